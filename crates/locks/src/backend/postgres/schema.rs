//! The tables: SyncGuard's, column for column.

use std::fmt::Write as _;

use leasehold_core::postgres::TableNames;
use leasehold_txn::{Pipeline, Policy, Pool, Step};

use super::operations;
use super::statements::{fill, functions};

/// Whether the lock table gets the two generated `timestamptz` columns that make it readable for people. Neither we
/// nor SyncGuard read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OptionalColumns {
    /// Only what locks need.
    #[default]
    Without,
    /// `expires_at_ts` and `acquired_at_ts` too.
    With,
}

/// The statements that set the tables up, for a migration tool: idempotent, each ended by a semicolon. The functions
/// at the end make us faster; leave them out where functions are not wanted.
pub fn setup_sql(tables: &TableNames, columns: OptionalColumns) -> String {
    let mut script = String::new();
    for statement in table_statements(tables, columns).into_iter().chain(functions(tables)) {
        writeln!(script, "{statement};\n").expect("a string takes everything");
    }
    script
}

fn table_statements(tables: &TableNames, columns: OptionalColumns) -> Vec<String> {
    let optional = match columns {
        OptionalColumns::Without => "",
        OptionalColumns::With => include_str!("sql/schema_optional_columns.sql").trim_end(),
    };
    [
        &include_str!("sql/schema_locks.sql").replace("{optional_columns}", optional),
        include_str!("sql/schema_lock_id.sql"),
        include_str!("sql/schema_expires.sql"),
        include_str!("sql/schema_fences.sql"),
    ]
    .map(|template| fill(template, tables, "true"))
    .into()
}

/// Makes the tables, all or none, and then the functions if the server lets us.
pub(super) async fn set_up(
    pool: &Pool,
    policy: &Policy,
    tables: &TableNames,
    columns: OptionalColumns,
) -> leasehold_txn::Result<()> {
    make(pool, policy, &table_statements(tables, columns)).await?;
    match make(pool, policy, &functions(tables)).await {
        Err(leasehold_txn::Error::Database { source, .. }) => {
            tracing::info!(error = %source, "no functions; operations send their statements");
            Ok(())
        }
        made => made,
    }
}

async fn make(pool: &Pool, policy: &Policy, statements: &[String]) -> leasehold_txn::Result<()> {
    let alone = include_str!("sql/setup_lock.sql");
    let steps: Vec<Step<'_>> = [alone]
        .into_iter()
        .chain(statements.iter().map(String::as_str))
        .map(|sql| Step::new(sql, &[]))
        .collect();
    Pipeline::write(operations::SETUP, &steps).query(pool, policy).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_columns_are_optional() {
        let tables = TableNames::default();
        assert!(!setup_sql(&tables, OptionalColumns::Without).contains("expires_at_ts"));
        assert!(setup_sql(&tables, OptionalColumns::With).contains("expires_at_ts timestamptz GENERATED"));
    }

    #[test]
    fn script_is_idempotent_by_its_words() {
        let script = setup_sql(&TableNames::default(), OptionalColumns::With);
        let creates = script.matches("\nCREATE ").count() + usize::from(script.starts_with("CREATE "));
        let tolerant = script.matches("IF NOT EXISTS").count() + script.matches("OR REPLACE").count();
        assert_eq!((creates, tolerant), (11, 11), "{script}");
    }
}
