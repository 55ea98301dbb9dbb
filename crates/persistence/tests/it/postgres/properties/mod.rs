//! What holds for every write of every store, on PostgreSQL: conflicts, failures, a line that is cut, a server that is killed.

mod between;
mod classes;
mod conflicts;
mod counted;
mod cut;
mod ids;
mod killed;
pub(crate) mod opening;

use leasehold_txn::{Dialect, Isolation};
use tokio_postgres::Client;

/// READ COMMITTED, with deadlocks tried again.
const RETRYING: Dialect = Dialect::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts: true };
/// One snapshot for a transaction; who raced with another is run again.
const REPEATABLE_READ: Dialect =
    Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };

/// Waits until somebody waits for what this session holds.
async fn waited_for(holder: &Client, outside: &Client) {
    let pid: i32 = holder.query_one("SELECT pg_backend_pid()", &[]).await.expect("a session").get(0);
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))";
    while outside.query_one(sql, &[&pid]).await.expect("a count").get::<_, i64>(0) == 0 {}
}
