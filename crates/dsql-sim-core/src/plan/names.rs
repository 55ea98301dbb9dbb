//! Which tables a statement names.

use sqlparser::ast::{GrantObjects, Ident, ObjectName, ObjectType, Statement, TableFactor, TableWithJoins};

use crate::{catalogue::TableName, rules::Parsed};

/// Every table named, once; names of `WITH` parts may be among them.
pub(super) fn tables(parsed: &Parsed) -> Vec<TableName> {
    let named = parsed.seen.relations.iter().chain(unvisited(&parsed.statement));
    let mut names: Vec<TableName> = named.filter_map(table_name).collect();
    names.sort_by(|one, two| (&one.name, &one.schema).cmp(&(&two.name, &two.schema)));
    names.dedup();
    names
}

/// Tables that the parser does not mark as such.
fn unvisited(statement: &Statement) -> &[ObjectName] {
    let objects = match statement {
        Statement::Drop { object_type: ObjectType::Table | ObjectType::View, names, .. } => return names,
        Statement::Grant(grant) => grant.objects.as_ref(),
        Statement::Revoke(revoke) => revoke.objects.as_ref(),
        _ => None,
    };
    match objects {
        Some(GrantObjects::Tables(tables)) => tables,
        _ => &[],
    }
}

/// The last one or two parts of a name, folded as PostgreSQL folds them.
pub(super) fn table_name(name: &ObjectName) -> Option<TableName> {
    let mut parts = name.0.iter().rev().map(|part| part.as_ident().map(folded));
    let name = parts.next()??;
    Some(TableName { schema: parts.next().flatten(), name })
}

/// An identifier without quotes is lower case.
pub(super) fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// A table in a FROM list: its name, and the word that stands for it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) name: ObjectName,
    pub(super) qualifier: String,
}

/// What a FROM list names, joined ones too.
pub(super) fn factors(from: &[TableWithJoins]) -> impl Iterator<Item = &TableFactor> {
    from.iter()
        .flat_map(|item| std::iter::once(&item.relation).chain(item.joins.iter().map(|join| &join.relation)))
}

/// A plain table.
pub(super) fn source(factor: &TableFactor) -> Option<Source> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let own = || name.0.last().map(ToString::to_string);
    let qualifier = alias.as_ref().map(|alias| alias.name.to_string()).or_else(own)?;
    Some(Source { name: name.clone(), qualifier })
}

#[cfg(test)]
mod tests {
    use super::tables;
    use crate::rules::parse;

    fn named(sql: &str) -> Vec<String> {
        let parsed = parse(sql).unwrap().remove(0);
        let full = |name: crate::catalogue::TableName| match name.schema {
            Some(schema) => format!("{schema}.{}", name.name),
            None => name.name,
        };
        tables(&parsed).into_iter().map(full).collect()
    }

    #[test]
    fn tables_are_named_once_and_folded() {
        assert_eq!(
            named("SELECT * FROM A JOIN s.\"B\" USING (x) WHERE EXISTS (SELECT 1 FROM a)"),
            ["s.B", "a"]
        );
        assert_eq!(named("UPDATE t SET x = 1 FROM u WHERE t.id = u.id"), ["t", "u"]);
        assert_eq!(named("DELETE FROM t USING u WHERE t.id = u.id"), ["t", "u"]);
    }

    #[test]
    fn ddl_names_what_it_changes() {
        assert_eq!(named("DROP TABLE a, b"), ["a", "b"]);
        assert_eq!(named("ALTER TABLE t ADD COLUMN x int"), ["t"]);
        assert_eq!(named("GRANT SELECT ON t TO app"), ["t"]);
        assert_eq!(named("CREATE INDEX ASYNC i ON t (x)"), ["t"]);
    }
}
