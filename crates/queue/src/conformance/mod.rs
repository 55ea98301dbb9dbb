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
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{QueueStore, Store};

/// One place for partitions and queues, empty at the start, that nobody else uses.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Prepares the place.
    async fn start() -> Self
    where
        Self: Sized;

    /// Whether what is stored survives [`restart`](Self::restart).
    fn is_durable(&self) -> bool;

    /// By how much the longest cases are cut short, and the shortest timeouts made longer, for a store that is slow to
    /// test. The environment can ask for longer cases.
    fn shortened(&self) -> u32 {
        1
    }

    /// Handles on partitions, as another process would have them where that is possible.
    fn store(&self) -> Arc<dyn Store>;

    /// The records of queues.
    fn queues(&self) -> Arc<dyn QueueStore>;

    /// Opens the place again, as a process does that starts after another has ended. Handles from before are gone.
    async fn restart(self: Box<Self>) -> Box<dyn Harness>;
}

/// Prepares a place of a kind that only the test knows: a case is compiled once, whatever runs it.
pub type Start = fn() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>>;

/// The [`Start`] of a kind of place.
#[must_use]
pub fn start<H: Harness>() -> Pin<Box<dyn Future<Output = Box<dyn Harness>> + Send>> {
    Box::pin(async { Box::new(H::start().await) as Box<dyn Harness> })
}

/// Runs a case as a test of its own, on two threads.
fn run(case: Pin<Box<dyn Future<Output = ()> + '_>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(case);
}
