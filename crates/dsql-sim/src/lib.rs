//! The DSQL simulator as a server: any PostgreSQL client of any language connects to it as it would to a cluster.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use leasehold_dsql_sim::{Config, Simulator};
//!
//! let simulator = Simulator::start(Config::new("postgres://postgres@127.0.0.1/app".parse()?)).await?;
//! println!("connect to {}", simulator.url());
//! # Ok(())
//! # }
//! ```

mod admin;
mod client;
mod error;
mod frontend;
mod portal;
mod reply;
mod simulator;
mod startup;
mod tls;

pub use error::{Error, Result};
pub use leasehold_dsql_sim_core::{
    BackingUrl, BackingUrlError, Config as ClusterConfig, Count, Counters, Limits, Mode, faults, rules,
};
pub use simulator::{Config, Simulator};
pub use tls::server_config;
