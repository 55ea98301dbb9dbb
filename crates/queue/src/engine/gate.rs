//! How much is asked of a store at once beside the writes of its partitions.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::OPENS_MAX;

/// Opens of one queue among those: a queue whose partitions hang, or that has thousands of them, leaves one for others.
const OPENS_OF_QUEUE_MAX: usize = OPENS_MAX - 1;
/// Pages of lists that are read at the same time.
const LISTS_MAX: usize = 2;

/// What all partitions of one store pass.
#[derive(Debug)]
pub(crate) struct StoreGate {
    opens: Arc<Semaphore>,
    lists: Arc<Semaphore>,
}

impl Default for StoreGate {
    fn default() -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        StoreGate { opens: semaphore(OPENS_MAX), lists: semaphore(LISTS_MAX) }
    }
}

/// What the partitions of one queue pass that are on one store.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    store: Arc<StoreGate>,
    opens: Arc<Semaphore>,
}

/// The right to open a partition.
pub(crate) type OpenPermit = [OwnedSemaphorePermit; 2];

impl Gate {
    pub(crate) fn new(store: &Arc<StoreGate>) -> Self {
        Gate { store: store.clone(), opens: Arc::new(Semaphore::new(OPENS_OF_QUEUE_MAX)) }
    }

    /// In the order of asking, but that no queue has more than its share.
    pub(crate) async fn open(&self) -> OpenPermit {
        let of_queue = acquire(&self.opens).await;
        [acquire(&self.store.opens).await, of_queue]
    }

    /// The right to read a page of a list.
    pub(crate) async fn list(&self) -> OwnedSemaphorePermit {
        acquire(&self.store.lists).await
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    semaphore.clone().acquire_owned().await.expect("it is never closed")
}
