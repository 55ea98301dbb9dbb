//! The record that an open queue runs with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::RwLock;

use crate::{QueueInfo, QueueStore, StoreError};

/// The record that an open queue runs with, and where it is kept: another server may have changed it there.
pub(crate) struct Record {
    info: RwLock<Arc<QueueInfo>>,
    records: Arc<dyn QueueStore>,
    timeout: Duration,
    is_gone: AtomicBool,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Record {
    pub(crate) fn new(info: QueueInfo, records: Arc<dyn QueueStore>, timeout: Duration) -> Self {
        Record { info: RwLock::new(Arc::new(info)), records, timeout, is_gone: AtomicBool::new(false) }
    }

    pub(crate) fn info(&self) -> Arc<QueueInfo> {
        self.info.read().clone()
    }

    /// Puts a record in force that was read or written, unless a later one of the same queue is: reads may end in another
    /// order than they began.
    pub(crate) fn set(&self, info: Arc<QueueInfo>) {
        let mut known = self.info.write();
        let is_outdated = info.created_at == known.created_at && info.updated_at < known.updated_at;
        if !is_outdated {
            *known = info;
        }
    }

    /// Whether the queue was deleted: another of its name is another queue.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) {
        self.is_gone.store(true, Ordering::Release);
    }

    /// As it is stored now.
    pub(crate) async fn read_again(&self) -> Result<Arc<QueueInfo>, StoreError> {
        let known = self.info();
        let unread = |source| StoreError::Unavailable { operation: "get", source };
        let found = tokio::time::timeout(self.timeout, self.records.get(&known.name)).await;
        match found.map_err(|elapsed| unread(elapsed.into()))?? {
            Some(info) if info.created_at == known.created_at => {
                self.set(Arc::new(info));
                Ok(self.info())
            }
            _ => {
                self.end();
                Err(StoreError::QueueGone { queue: known.name.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Timestamp;

    use super::*;
    use crate::store::memory::MemoryQueues;
    use crate::{Namespace, QueueChange};

    const TIMEOUT: Duration = Duration::from_secs(1);

    #[test]
    fn record_that_is_outdated_is_not_put_in_force() {
        let at = Timestamp::from_millis;
        let info = |created: i64, updated: i64| QueueInfo {
            name: "q".parse().expect("a name"),
            namespace: Namespace::default(),
            options: QueueChange {
                lease_timeout: TIMEOUT,
                expire_timeout: TIMEOUT,
                requested_partitions: 1,
                ..QueueChange::default()
            }
            .create()
            .expect("options"),
            partitions: Vec::new(),
            created_at: at(created),
            updated_at: at(updated),
        };
        let record = Record::new(info(1, 5), Arc::new(MemoryQueues::new()), TIMEOUT);
        for (created, updated, in_force) in [(1, 4, 5), (1, 6, 6), (1, 6, 6), (2, 3, 3)] {
            record.set(Arc::new(info(created, updated)));
            assert_eq!(record.info().updated_at, at(in_force), "created at {created}, updated at {updated}");
        }
    }
}
