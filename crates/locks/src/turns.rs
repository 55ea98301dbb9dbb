//! First come, first served among the waiters of one process: only the first in line asks the store.

use std::sync::Arc;

use leasehold_core::KeyHash;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::per_key::PerKey;

/// The lines before the keys.
#[derive(Debug, Default)]
pub(crate) struct Turns(PerKey<Semaphore>);

/// The first place in the line before a key; dropping it lets the next one step up.
#[derive(Debug)]
pub(crate) struct Turn {
    _permit: OwnedSemaphorePermit,
    /// Keeps the line in being for those who come later.
    _line: Arc<Semaphore>,
}

impl Turns {
    /// Waits until the caller is first in line. Dropping the future leaves the line.
    pub(crate) async fn wait(&self, key_hash: KeyHash) -> Turn {
        let line = self.0.join(key_hash, || Semaphore::new(1));
        let permit = line.clone().acquire_owned().await.expect("a line is never closed");
        Turn { _permit: permit, _line: line }
    }
}
