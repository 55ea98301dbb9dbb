//! The contract of queues, as public test functions over a [`Harness`].
//!
//! [`store_conformance!`](crate::store_conformance) and [`queue_conformance!`](crate::queue_conformance) make a
//! named test of each promise of a store, and of the engine over it, so that one failure hides nothing. A store of your own passes when they all do.
//!
//! Cases panic when the promise is broken: they are tests, and this module is only there with the feature
//! `conformance`.

pub mod engine;
pub mod store;

use std::future::Future;
use std::sync::Arc;

use crate::{QueueStore, Store};

/// One place for partitions and queues, empty at the start, that nobody else uses.
pub trait Harness: Send + Sync + Sized + 'static {
    /// Whether what is stored survives [`restart`](Self::restart).
    const IS_DURABLE: bool;

    /// By how much the longest cases are cut short, and the shortest timeouts made longer, for a store that is slow to
    /// test. The environment can ask for longer cases.
    const SHORTENED: u32 = 1;

    /// Prepares the place.
    fn start() -> impl Future<Output = Self> + Send;

    /// Handles on partitions, as another process would have them where that is possible.
    fn store(&self) -> Arc<dyn Store>;

    /// The records of queues.
    fn queues(&self) -> Arc<dyn QueueStore>;

    /// Opens the place anew, as a process does that starts after another has ended. Handles from before are gone.
    fn restart(self) -> impl Future<Output = Self> + Send;
}
