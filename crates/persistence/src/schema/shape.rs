//! What tables and indexes are wanted, read from the statements that make them.

use super::Schema;
use super::step::Kind;

/// A table, with what it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) primary_key: Vec<String>,
    pub(super) indexes: Vec<Index>,
}

/// A column, with its type as the catalogue writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) is_nullable: bool,
    pub(super) has_default: bool,
}

/// An index beside the primary key, known by its columns: names differ where a constraint made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) columns: Vec<String>,
    pub(super) is_unique: bool,
}

impl Schema {
    /// The tables that are wanted.
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut tables: Vec<Table> = Vec::new();
        for step in self.steps() {
            match step.kind {
                Kind::Table => tables.push(table(step.name(), step.sql())),
                Kind::Index => {
                    let (name, index) = index(step.sql());
                    let table = tables.iter_mut().find(|table| table.name == name);
                    table.expect("an index comes after its table").indexes.push(index);
                }
                Kind::Seed | Kind::Version => {}
            }
        }
        tables
    }
}

/// A line each: a column, the primary key, or a unique constraint.
fn table(name: &'static str, sql: &str) -> Table {
    let mut table = Table { name, columns: Vec::new(), primary_key: Vec::new(), indexes: Vec::new() };
    for line in sql.lines().skip(1).map(|line| line.trim().trim_end_matches(',')) {
        if line.starts_with("PRIMARY KEY") {
            table.primary_key = listed(line);
        } else if line.starts_with("CONSTRAINT") {
            table.indexes.push(Index { columns: listed(line), is_unique: true });
        } else if let Some((name, rest)) = line.split_once(' ') {
            let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            if rest.contains("UNIQUE") {
                table.indexes.push(Index { columns: vec![name.to_owned()], is_unique: true });
            }
            table.columns.push(Column {
                name: name.to_owned(),
                kind: in_catalogue(kind),
                is_nullable: !rest.contains("NOT NULL"),
                has_default: rest.contains("DEFAULT") || kind == "bigserial",
            });
        }
    }
    table
}

/// The table of an index, and the index.
pub(super) fn index(sql: &str) -> (&str, Index) {
    let on = sql.split_once(" ON ").map_or("", |(_, on)| on);
    let table = on.split_whitespace().next().unwrap_or_default();
    (table, Index { columns: listed(on), is_unique: sql.starts_with("CREATE UNIQUE ") })
}

/// What stands in parentheses, by its commas.
fn listed(text: &str) -> Vec<String> {
    let inside =
        text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    inside.split(',').map(|name| name.trim().to_owned()).collect()
}

fn in_catalogue(kind: &str) -> String {
    match kind {
        "timestamp" => "timestamp without time zone".to_owned(),
        "bigserial" => "bigint".to_owned(),
        kind => kind.replace("varchar", "character varying"),
    }
}

#[cfg(test)]
mod tests {
    use leasehold_txn::Dialect;

    use super::*;

    fn wanted(dialect: Dialect, name: &str) -> Table {
        let tables = Schema::of(dialect).tables();
        tables.into_iter().find(|table| table.name == name).expect("a table")
    }

    #[test]
    fn columns_keys_and_indexes_are_read_from_the_statements() {
        let shards = wanted(Dialect::POSTGRES, "shards");
        let kinds: Vec<_> = shards.columns.iter().map(|column| column.kind.as_str()).collect();
        assert_eq!(kinds, ["integer", "bigint", "bytea", "character varying(16)"]);
        assert_eq!(shards.primary_key, ["shard_id"]);
        assert_eq!(shards.indexes, []);
        let fence = ["shard_id", "range_id"].map(str::to_owned).to_vec();
        assert_eq!(wanted(Dialect::DSQL, "shards").indexes, [Index { columns: fence, is_unique: true }]);

        let events = wanted(Dialect::POSTGRES, "buffered_events");
        let id = events.columns.iter().find(|column| column.name == "id").expect("a column");
        assert_eq!((id.kind.as_str(), id.has_default, id.is_nullable), ("bigint", true, false));
        assert_eq!(events.indexes, [Index { columns: vec!["id".to_owned()], is_unique: true }]);

        let members = wanted(Dialect::DSQL, "cluster_membership");
        assert_eq!(members.indexes.len(), 5);
        assert_eq!(members.indexes.iter().filter(|index| index.is_unique).count(), 1);
        assert!(
            members
                .columns
                .iter()
                .any(|column| column.kind == "timestamp without time zone" && column.is_nullable)
        );
    }

    #[test]
    fn every_table_has_columns_and_a_key_of_them() {
        for dialect in [Dialect::POSTGRES, Dialect::DSQL] {
            for table in Schema::of(dialect).tables() {
                assert!(!table.primary_key.is_empty(), "{}", table.name);
                let keys = table.indexes.iter().flat_map(|index| &index.columns).chain(&table.primary_key);
                for key in keys {
                    assert!(table.columns.iter().any(|column| column.name == *key), "{}: {key}", table.name);
                }
            }
        }
    }
}
