//! Who may wait for room on a connection that carries many requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many bodies of one connection may wait for room at the same time. What has come of a body that waits counts
/// against all that the connection may send, so that enough of them keep back everything else on it.
#[derive(Clone)]
pub(crate) struct WaitingPlaces(Arc<Semaphore>);

impl WaitingPlaces {
    pub(crate) fn new(places: usize) -> Self {
        WaitingPlaces(Arc::new(Semaphore::new(places)))
    }

    /// None where all of them are taken.
    pub(super) fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.0.clone().try_acquire_owned().ok()
    }
}
