use std::time::Duration;

use leasehold_locks::backend::{BackendLocation, BackendOptions};

use crate::StoreLocation;

/// Where the server listens when nothing else is said: loopback, so that a first try is not a public service.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2319";

/// Where the server keeps its data when nothing else is said.
pub const DEFAULT_STORE: &str = "./leasehold-data";

/// Builds a [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct Config {
    /// `HOST:PORT`; port 0 takes a free one.
    pub address: String,
    /// What holds the data.
    pub store: StoreLocation,
    /// Where and how locks are kept.
    pub locks: LocksConfig,
    /// How long requests in flight may take to finish once the server was told to stop.
    pub stop_timeout: Duration,
}

/// Where and how locks are kept.
#[derive(Debug, Clone, Default)]
pub struct LocksConfig {
    /// Where the store is, if nothing is said.
    pub backend: Option<BackendLocation>,
    /// Names and habits.
    pub options: BackendOptions,
}
