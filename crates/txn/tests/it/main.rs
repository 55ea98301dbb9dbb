//! What the transaction layer does on a real server, and what it says to a stand-in.

#![allow(clippy::unwrap_used, reason = "the helpers of tests report by panicking, as tests do")]

mod cancel;
mod classes;
mod commit;
mod connect;
mod contention;
mod cut;
mod dsql_indexes;
mod dsql_token;
mod fixture;
mod metrics;
mod soak;
mod spawn;
mod statement;
mod tls;
