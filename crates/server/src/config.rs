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
    /// Where partitions, records of queues, and who may what are kept, if not in the store; queues to make.
    pub queues: QueuesConfig,
    /// Whether requests are judged.
    pub auth: leasehold_access::Driver,
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

/// Where queues are kept, and which there are from the start.
#[derive(Debug, Clone, Default)]
pub struct QueuesConfig {
    /// The records of queues; the store, if nothing is said.
    pub records: Option<StoreLocation>,
    /// The partitions; all in the store, if nothing is said.
    pub partitions: Vec<PartitionsConfig>,
    /// Namespaces, users, keys, roles and bindings; the store, if nothing is said.
    pub access: Option<StoreLocation>,
    /// Made when the server starts, unless they are there.
    pub queues: Vec<QueueConfig>,
}

/// One of the places for partitions.
#[derive(Debug, Clone)]
pub struct PartitionsConfig {
    /// Kept with each partition that is placed there.
    pub name: String,
    /// Its share of the partitions of new queues.
    pub affinity: f64,
    /// The place.
    pub store: StoreLocation,
    /// How many connections it may use, if it is a database.
    pub connections_max: Option<usize>,
}

/// A queue that is made when the server starts.
#[derive(Debug, Clone)]
pub struct QueueConfig {
    /// Its name.
    pub name: leasehold_queue::QueueName,
    /// What is chosen about it.
    pub change: leasehold_queue::QueueChange,
}
