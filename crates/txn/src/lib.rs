//! The one way to run a transaction on PostgreSQL and Aurora DSQL.
//!
//! ```no_run
//! use leasehold_txn::{Abort, Config, Operation, Policy, Pool, run};
//!
//! const MOVE: Operation = Operation::new("account.move");
//!
//! #[derive(Debug)]
//! struct NotEnough;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::new(Config::new("postgres://app@localhost/bank".parse()?))?;
//! let amount = 10_i64;
//! let left = run(&pool, MOVE, &Policy::none(), |tx| Box::pin(async move {
//!     let row = tx
//!         .query_opt(
//!             "UPDATE account SET balance = balance - $1 WHERE id = 1 AND balance >= $1 RETURNING balance",
//!             &[&amount],
//!         )
//!         .await?
//!         .ok_or(Abort::Condition(NotEnough))?;
//!     tx.execute("UPDATE account SET balance = balance + $1 WHERE id = 2", &[&amount]).await?;
//!     Ok(row.try_get::<_, i64>(0)?)
//! }))
//! .await;
//! # let _ = left.map_err(|_| "no")?;
//! # Ok(()) }
//! ```
//!
//! Every failure but one means that nothing was committed; that one, [`Error::UnknownOutcome`], is never retried
//! here. [`Statement`] is the same for a single statement, in one round trip.

mod attempts;
mod classify;
mod connect;
mod connection;
mod connection_string;
mod credentials;
mod database_error;
mod dialect;
mod dsql_schema;
mod error;
mod level;
mod listener;
mod loan;
mod metrics;
mod operation;
mod parameters;
mod pipeline;
mod policy;
mod pool;
mod pool_config;
mod registry;
mod run;
mod sigv4;
mod statement;
mod statement_cache;
mod tls;
mod token;
mod transaction;
mod url;

pub use connection_string::ConnectionString;
pub use credentials::Credentials;
pub use database_error::DatabaseError;
pub use dialect::{Dialect, DsqlLevel, Isolation};
pub use dsql_schema::{is_made_by_another, make_dsql_indexes, make_dsql_tables};
pub use error::{Error, Result};
pub use level::detect_level;
pub use listener::Listener;
pub use operation::Operation;
pub use parameters::parameters_in;
pub use pipeline::{Pipeline, Step, Values};
pub use policy::{ATTEMPTS_MAX, Jitter, PAUSE_MAX, Policy};
pub use pool::Pool;
pub use pool_config::{Config, SIZE_MAX};
pub use registry::Registry;
pub use run::{Abort, Failure, Running, run};
pub use statement::Statement;
pub use token::{CredentialsSource, Environment, TokenProvider};
pub use tokio_postgres;
pub use transaction::{Parameters, Transaction};
