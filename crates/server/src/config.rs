use std::time::Duration;

use leasehold_locks::backend::{BackendLocation, BackendOptions};

use crate::{Error, HostName, Result, StoreLocation, TlsConfig, TracingConfig};

/// Where the server listens when nothing else is said: loopback, so that a first try is not a public service.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:2319";

/// Where the server keeps its data when nothing else is said.
pub const DEFAULT_STORE: &str = "./leasehold-data";

/// Builds a [`Server`](crate::Server).
#[derive(Debug, Clone)]
pub struct Config {
    /// `HOST:PORT`; port 0 takes a free one.
    pub address: String,
    /// Names beside IP addresses and `localhost` that requests without an API key may be sent to.
    pub allowed_hosts: Vec<HostName>,
    /// Where `/health` and `/metrics` are served, if not at the address of everything else.
    pub admin_address: Option<String>,
    /// Whether `/metrics` is served at all.
    pub metrics_enabled: bool,
    /// What holds the data.
    pub store: StoreLocation,
    /// Whether a folder without a store is refused, wherever one is named, instead of getting a new one.
    pub must_exist: bool,
    /// Where partitions, records of queues, and who may what are kept, if not in the store; queues to make.
    pub queues: QueuesConfig,
    /// Whether requests are judged.
    pub auth: leasehold_access::Driver,
    /// Where and how locks are kept.
    pub locks: LocksConfig,
    /// How much is served at once, and how much one request may carry.
    pub limits: LimitsConfig,
    /// How TLS is spoken at the address; clear text if nothing is said. The address for operators is in clear text.
    pub tls: Option<TlsConfig>,
    /// Where traces of requests go; nowhere if nothing is said. Only in builds with the feature `otlp`.
    pub tracing: Option<TracingConfig>,
    /// How long clients may keep the server waiting.
    pub timeouts: TimeoutsConfig,
    /// Where tests of clients may hold queues and move time; only in builds with the feature `test-hooks`, and only
    /// on loopback.
    pub test_hooks: Option<String>,
    /// How long requests in flight may take to finish once the server was told to stop.
    pub stop_timeout: Duration,
}

impl Config {
    /// A server there, over this store, with everything else as it is when nothing is said.
    #[must_use]
    pub fn new(address: impl Into<String>, store: StoreLocation) -> Self {
        Config {
            address: address.into(),
            allowed_hosts: Vec::new(),
            admin_address: None,
            metrics_enabled: true,
            store,
            must_exist: false,
            queues: QueuesConfig::default(),
            auth: leasehold_access::Driver::default(),
            locks: LocksConfig::default(),
            limits: LimitsConfig::default(),
            tls: None,
            tracing: None,
            timeouts: TimeoutsConfig::default(),
            test_hooks: None,
            stop_timeout: Duration::from_secs(10),
        }
    }
}

/// How much is served at once, and how much one request may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Connections served at once; further ones wait to be accepted.
    pub connections: usize,
    /// Requests served at once on one connection, where it speaks HTTP/2.
    pub streams: u32,
    /// Items of a produce.
    pub produce_items: usize,
    /// Items of a lease.
    pub lease_items: usize,
    /// Ids of a complete, retry or extend.
    pub complete_items: usize,
    /// Requests of one queue that may wait to be taken.
    pub requests_per_queue: usize,
    /// Bytes of the body of a produce.
    pub produce_body_bytes: usize,
    /// Bytes of long bodies that may be in memory at once, over all requests.
    pub body_bytes: usize,
    /// Bytes of the items that one lease is answered with; one item is answered however large it is.
    pub lease_answer_bytes: usize,
    /// Bytes of leased items in answers that may be in memory at once, over all requests.
    pub answer_bytes: usize,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let engine = leasehold_queue::Config::default();
        LimitsConfig {
            connections: 1_000,
            streams: 100,
            produce_items: engine.limits.produce_items_max,
            lease_items: engine.limits.lease_items_max,
            complete_items: engine.limits.complete_items_max,
            requests_per_queue: engine.requests_max,
            produce_body_bytes: 5_000_000,
            body_bytes: 256_000_000,
            lease_answer_bytes: engine.answer_bytes_max,
            answer_bytes: engine.answers_bytes_max,
        }
    }
}

/// How long clients may keep the server waiting. None of them runs while a request is being served: those who wait
/// for items or locks wait as long as they asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeoutsConfig {
    /// For the whole head of the next request. By default longer than the pools of clients keep a connection that
    /// nobody uses: when the client hangs up first, no request is lost on a closing connection.
    pub idle: Duration,
    /// For the next 64,000 bytes of a body, or its end.
    pub body: Duration,
    /// For the client to take the next piece of an answer.
    pub write: Duration,
    /// For a TLS handshake, from its first byte to its last.
    pub handshake: Duration,
}

impl Default for TimeoutsConfig {
    fn default() -> Self {
        TimeoutsConfig {
            idle: Duration::from_secs(120),
            body: Duration::from_secs(30),
            write: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
        }
    }
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

impl QueuesConfig {
    /// Whether every partition that a queue wants somewhere has that place.
    pub(crate) fn check_placements(&self) -> Result<()> {
        for queue in &self.queues {
            let wanted = queue.placement.pinned().iter().filter_map(|partition| partition.store.as_ref());
            for storage in wanted {
                if !self.partitions.iter().any(|place| place.name == *storage) {
                    let queue = queue.name.as_str().to_owned();
                    return Err(Error::QueueStorage { queue, storage: storage.clone() });
                }
            }
        }
        Ok(())
    }
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
    /// Where its partitions are kept, as far as that is chosen; by names of [`PartitionsConfig`].
    pub placement: leasehold_queue::Placement,
}
