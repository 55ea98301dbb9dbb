//! A table as the simulator has to know it.

use serde::Deserialize;

/// One table of the backing database.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) oid: u32,
    kind: String,
    pub(crate) columns: Vec<Column>,
    primary_key: Vec<String>,
    /// Columns of unique indexes that have neither predicate nor expression.
    key_columns: Vec<String>,
    foreign_keys: Vec<ForeignKey>,
    /// The columns that foreign keys of others name, one list for each.
    referenced: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type")]
    kind: String,
    /// As PostgreSQL has it: below zero for values of no fixed length.
    length: i32,
}

#[derive(Clone, Debug, Deserialize)]
struct ForeignKey {
    parent: u32,
    columns: Vec<String>,
    parent_columns: Vec<String>,
}

/// An expression that names a row of a table, as text, and the prefix that keeps tables and keys apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowName {
    pub(crate) prefix: String,
    pub(crate) expression: String,
}

/// What a row costs beside its values; DSQL counts overhead too and does not say how much.
const ROW_BYTES: u64 = 24;

impl Table {
    /// Whether rows are kept in it, and not behind it as with a view.
    pub(crate) fn is_stored(&self) -> bool {
        self.kind == "r"
    }

    pub(crate) fn is_key(&self, column: &str) -> bool {
        self.key_columns.iter().any(|key| key == column)
    }

    /// PostgreSQL's name for the type of a column.
    pub(crate) fn type_of(&self, column: &str) -> Option<&str> {
        self.columns.iter().find(|found| found.name == column).map(|found| found.kind.as_str())
    }

    /// Whether the column is part of a name by which others may know a row.
    pub(crate) fn is_name(&self, column: &str) -> bool {
        std::iter::once(&self.primary_key).chain(&self.referenced).flatten().any(|name| name == column)
    }

    /// Whether values for these columns name at most one row, by the primary key.
    pub(crate) fn is_keyed_by(&self, columns: &[String]) -> bool {
        !self.primary_key.is_empty() && self.primary_key.iter().all(|key| columns.contains(key))
    }

    /// The names by which others may know a row: its primary key, and every key a foreign key points to.
    pub(crate) fn row_names(&self, qualifier: &str) -> Vec<RowName> {
        let mut keys: Vec<Vec<String>> = Vec::new();
        for key in std::iter::once(&self.primary_key).chain(&self.referenced).filter(|key| !key.is_empty()) {
            let mut key = key.clone();
            key.sort();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.iter().map(|key| row_name(self.oid, key, key, qualifier)).collect()
    }

    /// The rows of other tables that a row of this one points to.
    pub(crate) fn parent_names(&self, qualifier: &str) -> Vec<RowName> {
        let names = self.foreign_keys.iter().map(|foreign| {
            let mut pairs: Vec<_> = foreign.parent_columns.iter().zip(&foreign.columns).collect();
            pairs.sort();
            let (parent, own): (Vec<String>, Vec<String>) =
                pairs.into_iter().map(|(parent, own)| (parent.clone(), own.clone())).unzip();
            row_name(foreign.parent, &parent, &own, qualifier)
        });
        names.collect()
    }

    /// An SQL expression for the bytes of a row.
    pub(crate) fn bytes_expression(&self, qualifier: &str) -> String {
        let mut fixed = ROW_BYTES;
        let mut expression = String::new();
        for column in &self.columns {
            let name = format!("{qualifier}.{}", quoted(&column.name));
            match (u64::try_from(column.length), column.kind.as_str()) {
                (Ok(length), _) => fixed += length,
                (_, "text" | "varchar" | "bpchar" | "bytea") => {
                    expression += &format!(" + coalesce(octet_length({name}), 0)");
                }
                (_, "json" | "jsonb") => expression += &format!(" + coalesce(octet_length({name}::text), 0)"),
                _ => expression += &format!(" + coalesce(pg_column_size({name}), 0)"),
            }
        }
        format!("({fixed}{expression})::int8")
    }
}

fn row_name(table: u32, key: &[String], columns: &[String], qualifier: &str) -> RowName {
    let values: Vec<String> =
        columns.iter().map(|column| format!("{qualifier}.{}", quoted(column))).collect();
    let known = values.iter().map(|value| format!("{value} IS NOT NULL")).collect::<Vec<_>>().join(" AND ");
    RowName {
        prefix: format!("{table}({})", key.join(",")),
        // A key with a NULL names no row.
        expression: format!("CASE WHEN {known} THEN ROW({})::text END", values.join(", ")),
    }
}

/// An identifier that keeps its letters.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{Table, literal, quoted};

    fn child() -> Table {
        let text = r#"{"oid": 7, "kind": "r",
            "columns": [{"name": "id", "type": "int8", "length": 8}, {"name": "note", "type": "text", "length": -1}],
            "primary_key": ["id"], "key_columns": ["id"],
            "foreign_keys": [{"parent": 5, "columns": ["y", "x"], "parent_columns": ["b", "a"]}],
            "referenced": [["id"]]}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn child_names_its_parent_as_the_parent_names_itself() {
        let name = child().parent_names("c").remove(0);
        assert_eq!(name.prefix, "5(a,b)");
        assert!(name.expression.contains(r#"ROW(c."x", c."y")"#), "{}", name.expression);
    }

    #[test]
    fn key_named_twice_is_one_name() {
        assert_eq!(child().row_names("c").len(), 1);
    }

    #[test]
    fn bytes_count_values_of_any_length() {
        assert_eq!(child().bytes_expression("c"), r#"(32 + coalesce(octet_length(c."note"), 0))::int8"#);
    }

    #[test]
    fn quotes_in_names_and_texts_are_doubled() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }
}
