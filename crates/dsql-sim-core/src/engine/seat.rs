//! A place at PostgreSQL for one session.

use std::sync::atomic::{AtomicU64, Ordering};

use super::worker::Worker;
use crate::backend::CancelKey;

/// What others may need of a session: to make it give way, to cancel it, to know how old its snapshot is.
pub(crate) struct Seat {
    pub(crate) id: u64,
    /// Held while the session uses PostgreSQL; who else takes it finds the session idle.
    pub(crate) worker: tokio::sync::Mutex<Worker>,
    pub(crate) pid: i32,
    pub(crate) cancel_key: CancelKey,
    snapshot: AtomicU64,
}

const NO_SNAPSHOT: u64 = u64::MAX;

impl Seat {
    pub(crate) fn new(id: u64, worker: Worker) -> Seat {
        Seat {
            id,
            pid: worker.connection.pid(),
            cancel_key: worker.connection.cancel_key(),
            worker: tokio::sync::Mutex::new(worker),
            snapshot: AtomicU64::new(NO_SNAPSHOT),
        }
    }

    /// The place of its snapshot in the order of commits; the highest number when it has none.
    pub(crate) fn snapshot(&self) -> u64 {
        self.snapshot.load(Ordering::Relaxed)
    }

    pub(crate) fn set_snapshot(&self, snapshot: Option<u64>) {
        self.snapshot.store(snapshot.unwrap_or(NO_SNAPSHOT), Ordering::Relaxed);
    }
}
