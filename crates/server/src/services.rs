use std::future;
use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::backend::postgres::{self, FusedBackend, FusedConfig, OptionalColumns, PostgresBackend};
use leasehold_locks::backend::{BackendLocation, BackendOptions};
use leasehold_locks::{Config, LockBackend, Locks};
use leasehold_txn::{Pool, Registry};

use crate::store::Store;
use crate::{LocksConfig, Result};

/// How long to wait before asking again a database that could not be prepared.
const PREPARE_PAUSE: Duration = Duration::from_secs(2);

/// The faces over the open store: what routes call.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) store: Store,
    pub(crate) locks: Locks,
    /// A backend whose tables may have to be made.
    unprepared: Option<Arc<PostgresBackend>>,
}

impl Services {
    /// Locks live where the store does, unless the configuration says otherwise.
    pub(crate) async fn over(store: Store, locks: &LocksConfig) -> Result<Self> {
        match (&locks.backend, &store) {
            (Some(BackendLocation::Postgres(connection)), _) => {
                let config = leasehold_txn::Config::new((**connection).clone());
                let pool = Registry::of_process().pool(config)?;
                Ok(Services::with_postgres_locks(store, pool, &locks.options))
            }
            (Some(location), _) => {
                let backend = location.open_with(&locks.options).await?;
                Ok(Services::with_locks(store, backend))
            }
            (None, Store::Memory) => Ok(Services::with_locks(store, Arc::new(MemoryBackend::default()))),
            (None, Store::Embedded(opened)) => {
                let backend = EmbeddedBackend::open(opened.clone())?;
                Ok(Services::with_locks(store, Arc::new(backend)))
            }
            (None, Store::Postgres(pool)) => {
                let pool = pool.clone();
                Ok(Services::with_postgres_locks(store, pool, &locks.options))
            }
        }
    }

    /// Many clients, few statements.
    fn with_postgres_locks(store: Store, pool: Pool, options: &BackendOptions) -> Self {
        let backend = Arc::new(PostgresBackend::new(pool, postgres::Config::of(options)));
        let fused = FusedBackend::new(backend.clone(), FusedConfig::default());
        Services { unprepared: Some(backend), ..Services::with_locks(store, Arc::new(fused)) }
    }

    pub(crate) fn with_locks(store: Store, backend: Arc<dyn LockBackend>) -> Self {
        Services { store, locks: Locks::with_config(backend, Config::default()), unprepared: None }
    }

    /// Makes the tables once the database can be reached, however long that takes; then stays, for whoever runs it
    /// beside the server. Requests that come before are answered as the database answers them.
    pub(crate) async fn prepare(&self) -> std::convert::Infallible {
        if let Some(backend) = &self.unprepared {
            while let Err(error) = backend.setup_schema(OptionalColumns::Without).await {
                log_unprepared(&error);
                tokio::time::sleep(PREPARE_PAUSE).await;
            }
        }
        future::pending().await
    }
}

fn log_unprepared(error: &leasehold_locks::Error) {
    let chain = error as &(dyn std::error::Error + 'static);
    tracing::warn!(code = error.code(), error = chain, "the lock tables are not ready; trying again");
}
