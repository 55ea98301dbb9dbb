//! Counts the pauses of a policy: each is spread by one sample.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_txn::Jitter;

#[derive(Clone, Default)]
pub(crate) struct Pauses(Arc<AtomicU64>);

impl Pauses {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Jitter for Pauses {
    fn sample(&self) -> f64 {
        self.0.fetch_add(1, Ordering::Relaxed);
        0.5
    }
}
