//! The record that an open queue runs with.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;

use crate::{QueueInfo, QueueStore};

/// The record that an open queue runs with, and where it is kept: another server may have changed it there.
pub(crate) struct Record {
    info: RwLock<Arc<QueueInfo>>,
    records: Arc<dyn QueueStore>,
    timeout: Duration,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Record {
    pub(crate) fn new(info: QueueInfo, records: Arc<dyn QueueStore>, timeout: Duration) -> Self {
        Record { info: RwLock::new(Arc::new(info)), records, timeout }
    }

    pub(crate) fn info(&self) -> Arc<QueueInfo> {
        self.info.read().clone()
    }

    pub(crate) fn set(&self, info: Arc<QueueInfo>) {
        *self.info.write() = info;
    }

    /// As it is stored now; as it was if that cannot be said, or if it is gone.
    pub(crate) async fn read_again(&self) -> Arc<QueueInfo> {
        let known = self.info();
        match tokio::time::timeout(self.timeout, self.records.get(&known.name)).await {
            Ok(Ok(Some(info))) => {
                let info = Arc::new(info);
                self.set(info.clone());
                info
            }
            Ok(Ok(None)) => known,
            Ok(Err(error)) => {
                tracing::warn!(queue = %known.name, %error, "the record of a queue could not be read again");
                known
            }
            Err(_) => {
                tracing::warn!(queue = %known.name, "the record of a queue was not read again in time");
                known
            }
        }
    }
}
