//! What has been sent and not been answered yet.

use std::collections::HashSet;

use leasehold_core::{Key, LockId};

use super::worker::Job;
use crate::AcquireRequest;

/// Each key and each lock id at most once.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    keys: HashSet<Key>,
    lock_ids: HashSet<LockId>,
}

impl UnderWay {
    /// Whether the job must wait for the answer to another: two acquires of one key would wait for each other in the
    /// database, and a release must not overtake its own acquire, which a caller that gave up leaves behind.
    pub(super) fn holds_up(&self, job: &Job) -> bool {
        match job {
            Job::Acquire { request, .. } => {
                self.keys.contains(&request.key) || self.lock_ids.contains(&request.lock_id)
            }
            Job::Release { lock_id, .. } => self.lock_ids.contains(lock_id),
        }
    }

    pub(super) fn begin(&mut self, request: &AcquireRequest) {
        self.keys.insert(request.key.clone());
        self.lock_ids.insert(request.lock_id);
    }

    pub(super) fn end(&mut self, request: &AcquireRequest) {
        self.keys.remove(&request.key);
        self.lock_ids.remove(&request.lock_id);
    }

    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.lock_ids.clear();
    }
}
