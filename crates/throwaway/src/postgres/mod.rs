//! Throw-away PostgreSQL servers.
//!
//! ```no_run
//! # async fn example() {
//! use leasehold_throwaway::postgres::Cluster;
//!
//! let database = Cluster::shared().database().await;
//! println!("connect to {}", database.url());
//! # }
//! ```

mod cluster;
mod database;
mod ready;
mod schema;
mod settings;
mod template;

pub use cluster::Cluster;
pub use database::{Database, Original};
pub use schema::Schema;
pub use settings::Settings;

pub(crate) use ready::takes_sessions;
