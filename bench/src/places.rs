//! Where queues can be, started for a measurement.

use std::error::Error;
use std::sync::Arc;

use clap::ValueEnum;
use leasehold_queue::store::embedded::{EmbeddedQueues, EmbeddedStore};
use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::store::postgres::{self, PostgresQueues, PostgresStore};
use leasehold_queue::{Config, Engine, NamedStore, QueueStore, Store};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_txn::{ConnectionString, Pool};

/// A store of queues.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Kind {
    /// In this process.
    Memory,
    /// Synced files in a temporary folder.
    Embedded,
    /// A throw-away durable server.
    Postgres,
}

/// Where the queues are, and what keeps it alive.
pub struct Place {
    store: Arc<dyn Store>,
    queues: Arc<dyn QueueStore>,
    _folder: Option<tempfile::TempDir>,
    _cluster: Option<Cluster>,
}

impl Place {
    /// Starts what the store needs.
    ///
    /// # Errors
    /// No server, no folder.
    pub fn start(kind: Kind) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(match kind {
            Kind::Memory => {
                let queues = MemoryQueues::new();
                Place {
                    store: Arc::new(MemoryStore::beside(&queues)),
                    queues: Arc::new(queues),
                    _folder: None,
                    _cluster: None,
                }
            }
            Kind::Embedded => {
                let folder = tempfile::tempdir()?;
                let store = leasehold_embedded::Store::open(folder.path().join("data"))?;
                Place {
                    store: Arc::new(EmbeddedStore::open(store.clone())?),
                    queues: Arc::new(EmbeddedQueues::open(store)?),
                    _folder: Some(folder),
                    _cluster: None,
                }
            }
            Kind::Postgres => {
                let cluster = Cluster::start(Settings::durable().with("shared_buffers", "1GB"))?;
                let connection: ConnectionString = cluster.url("postgres").parse()?;
                let pool = Pool::new(leasehold_txn::Config::new(connection).size_max(26))?;
                let config = postgres::Config::default();
                Place {
                    queues: Arc::new(PostgresQueues::new(pool.clone(), &config)),
                    store: Arc::new(PostgresStore::new(pool, config)),
                    _folder: None,
                    _cluster: Some(cluster),
                }
            }
        })
    }

    /// An engine over the place.
    #[must_use]
    pub fn engine(&self) -> Engine {
        let store = NamedStore { name: "bench".to_owned(), affinity: 1.0, store: self.store.clone() };
        Engine::new(Config::default(), self.queues.clone(), vec![store])
    }
}
