//! What holds for every write of every store, on PostgreSQL: conflicts, failures, a line that is cut, a server that is killed.

mod classes;
mod conflicts;
mod counted;
mod cut;
mod ids;
mod killed;
mod opening;

use leasehold_txn::{Dialect, Isolation};

/// READ COMMITTED, with deadlocks tried again.
const RETRYING: Dialect = Dialect::Postgres { isolation: Isolation::ReadCommitted, retry_conflicts: true };
/// One snapshot for a transaction; who raced with another is run again.
const REPEATABLE_READ: Dialect =
    Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };
