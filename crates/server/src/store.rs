use std::sync::Arc;
use std::time::Duration;

use leasehold_access::{Stores, store as access};
use leasehold_queue::QueueStore;
use leasehold_queue::store::dsql::{self, DsqlQueues, DsqlStore};
use leasehold_queue::store::embedded::{EmbeddedQueues, EmbeddedStore};
use leasehold_queue::store::memory::{MemoryQueues, MemoryStore};
use leasehold_queue::store::postgres::{self, PostgresQueues, PostgresStore};
use leasehold_txn::{Operation, Policy, Pool, Registry, Statement};

use crate::{Result, StoreLocation};

/// How long a store may take to answer the health check.
pub(crate) const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

const CHECK: Statement<'_> = Statement::read(Operation::new("server.check"), "SELECT 1");

/// An open store, behind one face or all.
#[derive(Clone)]
pub(crate) enum Store {
    /// What is in it is shared by clones.
    Memory(MemoryQueues),
    Embedded(leasehold_embedded::Store),
    Postgres(Pool),
    Dsql(Pool),
}

impl Store {
    /// Opens what can be opened without the network: a database that is down now may come back, so it does not
    /// keep the server from starting.
    ///
    /// Opens with at most `connections_max` connections: the first to name a database decides. A folder that must exist is not created.
    pub(crate) async fn open(
        location: &StoreLocation,
        connections_max: Option<usize>,
        must_exist: bool,
    ) -> Result<Self> {
        match location {
            StoreLocation::Memory => Ok(Store::Memory(MemoryQueues::new())),
            StoreLocation::Folder(folder) => {
                let folder = folder.clone();
                let open = move || match must_exist {
                    true => leasehold_embedded::Store::open_existing(folder),
                    false => leasehold_embedded::Store::open(folder),
                };
                let opened = tokio::task::spawn_blocking(open).await;
                Ok(Store::Embedded(opened.expect("opening the store does not panic")?))
            }
            StoreLocation::Postgres(connection) | StoreLocation::Dsql(connection) => {
                let mut config = leasehold_txn::Config::new((**connection).clone());
                if let Some(connections_max) = connections_max {
                    config = config.size_max(connections_max);
                }
                let pool = Registry::of_process().pool(config)?;
                Ok(match location {
                    StoreLocation::Dsql(_) => Store::Dsql(pool),
                    _ => Store::Postgres(pool),
                })
            }
        }
    }

    /// A place for partitions, and whether the records of their queues are in it too.
    pub(crate) fn partitions(&self, has_records: bool) -> Result<Arc<dyn leasehold_queue::Store>> {
        Ok(match self {
            Store::Memory(queues) if has_records => Arc::new(MemoryStore::beside(queues)),
            Store::Memory(_) => Arc::new(MemoryStore::new()),
            Store::Embedded(store) => {
                let store = EmbeddedStore::open(store.clone())?;
                Arc::new(if has_records { store } else { store.apart_from_records() })
            }
            Store::Postgres(pool) => {
                let store = PostgresStore::new(pool.clone(), postgres::Config::default());
                Arc::new(if has_records { store } else { store.apart_from_records() })
            }
            Store::Dsql(pool) => {
                let store = DsqlStore::new(pool.clone(), dsql::Config::default());
                Arc::new(if has_records { store } else { store.apart_from_records() })
            }
        })
    }

    /// A place for the records of queues.
    pub(crate) fn queues(&self) -> Result<Arc<dyn QueueStore>> {
        Ok(match self {
            Store::Memory(queues) => Arc::new(queues.clone()),
            Store::Embedded(store) => Arc::new(EmbeddedQueues::open(store.clone())?),
            Store::Postgres(pool) => {
                Arc::new(PostgresQueues::new(pool.clone(), &postgres::Config::default()))
            }
            Store::Dsql(pool) => Arc::new(DsqlQueues::new(pool.clone(), &dsql::Config::default())),
        })
    }

    /// A place for namespaces, users, keys, roles and bindings.
    pub(crate) fn access(&self) -> Result<Stores> {
        Ok(match self {
            Store::Memory(_) => Stores::of(Arc::new(access::memory::MemoryStore::new())),
            Store::Embedded(store) => {
                Stores::of(Arc::new(access::embedded::EmbeddedStore::open(store.clone())?))
            }
            Store::Postgres(pool) => access::postgres::PostgresStore::new(pool.clone()).stores(),
            Store::Dsql(pool) => {
                access::dsql::DsqlStore::new(pool.clone(), access::dsql::Config::default()).stores()
            }
        })
    }

    /// Whether the store answers now. The reason goes to the log, not to whoever asked.
    pub(crate) async fn is_healthy(&self) -> bool {
        match tokio::time::timeout(CHECK_TIMEOUT, self.check()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    code = error.code(),
                    "store check failed"
                );
                false
            }
            Err(_elapsed) => {
                tracing::warn!(timeout = ?CHECK_TIMEOUT, "store check timed out");
                false
            }
        }
    }

    async fn check(&self) -> Result<()> {
        match self {
            Store::Memory(_) => Ok(()),
            Store::Embedded(store) => {
                let store = store.clone();
                let checked = tokio::task::spawn_blocking(move || store.check()).await;
                Ok(checked.expect("checking the store does not panic")?)
            }
            Store::Postgres(pool) | Store::Dsql(pool) => {
                Ok(CHECK.execute(pool, &Policy::none(), &[]).await.map(drop)?)
            }
        }
    }
}
