use std::sync::Arc;

use leasehold_locks::backend::embedded::EmbeddedBackend;
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::{Config, LockBackend, Locks};

use crate::Result;
use crate::store::Store;

/// The faces over the open store: what routes call.
#[derive(Clone)]
pub(crate) struct Services {
    pub(crate) store: Store,
    pub(crate) locks: Locks,
}

impl Services {
    /// Locks live where the store does.
    pub(crate) fn over(store: Store) -> Result<Self> {
        let backend: Arc<dyn LockBackend> = match &store {
            Store::Memory => Arc::new(MemoryBackend::default()),
            Store::Embedded(store) => Arc::new(EmbeddedBackend::open(store.clone())?),
            Store::Postgres(_pool) => Arc::new(MemoryBackend::default()),
        };
        Ok(Services::with_locks(store, backend))
    }

    pub(crate) fn with_locks(store: Store, backend: Arc<dyn LockBackend>) -> Self {
        Services { store, locks: Locks::with_config(backend, Config::default()) }
    }
}
