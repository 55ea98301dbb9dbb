//! What the transaction layer does on a real server.

#![allow(clippy::unwrap_used, reason = "the helpers of tests report by panicking, as tests do")]

#[path = "on_postgres/cancel.rs"]
mod cancel;
#[path = "on_postgres/classes.rs"]
mod classes;
#[path = "on_postgres/commit.rs"]
mod commit;
#[path = "on_postgres/connect.rs"]
mod connect;
#[path = "on_postgres/contention.rs"]
mod contention;
#[path = "on_postgres/cut.rs"]
mod cut;
#[path = "on_postgres/fixture.rs"]
mod fixture;
#[path = "on_postgres/metrics.rs"]
mod metrics;
#[path = "on_postgres/spawn.rs"]
mod spawn;
#[path = "on_postgres/statement.rs"]
mod statement;
#[path = "on_postgres/tls.rs"]
mod tls;
