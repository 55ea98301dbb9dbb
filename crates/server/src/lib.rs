//! The server: HTTP in front of the faces, one store behind them.
//!
//! A request is decoded in `routes`, makes one call down, and is encoded again. [`Server::bind`] does all that
//! can fail at start; [`Server::run`] serves until it is told to stop.

mod config;
mod config_file;
mod connections;
mod error;
mod first_tries;
mod host_name;
mod location;
mod observed_locks;
mod process_metrics;
mod queue_metrics;
mod recorder;
mod recover;
mod refusal;
mod reply;
mod routes;
mod server;
mod services;
mod spans;
mod store;
#[cfg(feature = "test-hooks")]
mod test_hooks;
mod tls;

pub use config::{
    Config, DEFAULT_ADDRESS, DEFAULT_STORE, LimitsConfig, LocksConfig, PartitionsConfig, QueueConfig,
    QueuesConfig, TimeoutsConfig,
};
pub use config_file::{ConfigFile, EffectiveConfig, LogHandler};
pub use error::{Error, Result};
pub use host_name::HostName;
pub use location::StoreLocation;
pub use recover::recover_access;
pub use server::Server;
pub use spans::{TracingConfig, TracingOptions};
pub use tls::{ClientAuth, TlsConfig, TlsOptions, TlsVersion};
