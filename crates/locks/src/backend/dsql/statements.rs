//! The statements, with the names of the tables filled in. Those that do not differ are PostgreSQL's.

use leasehold_core::postgres::TableNames;

use super::super::postgres::statements::{LOOKUP_BY_ID, LOOKUP_BY_KEY, Statements, fill_at};

/// The clock in whole milliseconds, at the beginning of the transaction. A statement here waits for nobody, and one that is
/// run again begins anew. Not qualified with a schema, so that a test can stop it.
const NOW: &str = "floor(extract(epoch FROM now()) * 1000)::bigint";

/// Those that only DSQL has.
#[derive(Debug)]
pub(super) struct DsqlStatements {
    pub(super) held: String,
    pub(super) schema_locks: String,
    pub(super) schema_lock_id: String,
}

impl DsqlStatements {
    pub(super) fn new(tables: &TableNames) -> Self {
        let filled = |template| fill_at(template, tables, NOW);
        DsqlStatements {
            held: filled(include_str!("sql/held.sql")),
            schema_locks: filled(include_str!("sql/schema_locks.sql")),
            schema_lock_id: filled(include_str!("sql/schema_lock_id.sql")),
        }
    }
}

/// Those that every dialect has.
pub(super) fn shared(tables: &TableNames) -> Statements {
    let filled = |template| fill_at(template, tables, NOW);
    Statements {
        acquire: filled(include_str!("sql/acquire.sql")),
        forget_ended: filled(include_str!("sql/forget_ended.sql")),
        release: filled(include_str!("sql/release.sql")),
        extend: filled(include_str!("sql/extend.sql")),
        lookup_by_key: filled(LOOKUP_BY_KEY),
        lookup_by_id: filled(LOOKUP_BY_ID),
        list: filled(include_str!("sql/list.sql")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled() {
        let tables = TableNames::parse("order", "fences_of_order").expect("plain names");
        let text = format!("{:?}{:?}", DsqlStatements::new(&tables), shared(&tables));
        // What is left are the braces of the structs' own Debug.
        assert_eq!(text.matches('{').count(), 2, "{text}");
        assert!(text.contains(r#"\"order\""#));
    }
}
