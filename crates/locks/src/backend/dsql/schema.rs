//! The table: SyncGuard's lock table, but for a lock id that may be absent; see `docs/adr/0015-one-row-per-key-on-dsql.md`.

use std::fmt::Write as _;
use std::time::Duration;

use leasehold_core::Deadline;
use leasehold_core::postgres::TableNames;
use leasehold_txn::{Result, make_dsql_indexes, make_dsql_tables};

use super::super::postgres::operations;
use super::super::postgres::store::Store;
use super::statements::DsqlStatements;

/// How long the index may take to be built; on a table that is filled already it is the database that decides.
const SETUP_TIMEOUT: Duration = Duration::from_secs(600);

/// The statements that set the table up, for a migration tool: idempotent, each ended by a semicolon, each to be run in a
/// transaction of its own.
pub fn setup_sql(tables: &TableNames) -> String {
    let DsqlStatements { schema_locks, schema_lock_id, .. } = DsqlStatements::new(tables);
    let mut script = String::new();
    for statement in [schema_locks, schema_lock_id] {
        writeln!(script, "{statement};\n").expect("a string takes everything");
    }
    script
}

pub(super) async fn set_up(store: &Store, statements: &DsqlStatements) -> Result<()> {
    let policy = store.retries.clone().until(Deadline::after(SETUP_TIMEOUT));
    make_dsql_tables(&store.pool, operations::SETUP, &policy, &[&statements.schema_locks]).await?;
    make_dsql_indexes(&store.pool, operations::SETUP, &policy, &[&statements.schema_lock_id]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_is_idempotent_by_its_words_and_builds_in_the_background() {
        let script = setup_sql(&TableNames::default());
        assert_eq!(script.matches("CREATE ").count(), script.matches("IF NOT EXISTS").count(), "{script}");
        assert_eq!(script.matches("INDEX ASYNC").count(), 1, "{script}");
    }
}
