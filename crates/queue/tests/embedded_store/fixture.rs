//! A folder with partitions and queues in it, on a disk that can fail.

use std::sync::Arc;

use leasehold_embedded::Store as Folder;
use leasehold_embedded::faults::Faults;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::embedded::{EmbeddedQueues, EmbeddedStore};
use leasehold_queue::{QueueStore, Store};
use tempfile::TempDir;

pub(crate) struct Embedded {
    pub(crate) opened: Folder,
    pub(crate) faults: Faults,
    store: Arc<EmbeddedStore>,
    queues: Arc<EmbeddedQueues>,
    pub(crate) folder: TempDir,
}

impl Embedded {
    fn over(folder: TempDir) -> Self {
        let faults = Faults::none();
        let opened = Folder::open_with_faults(folder.path(), &faults).expect("the folder is free");
        let queues = Arc::new(EmbeddedQueues::open(opened.clone()).expect("opens"));
        let store = Arc::new(EmbeddedStore::open(opened.clone()).expect("opens"));
        Embedded { opened, faults, store, queues, folder }
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        std::fs::metadata(self.folder.path().join("leasehold.redb")).expect("is there").len()
    }
}

impl Harness for Embedded {
    const IS_DURABLE: bool = true;

    async fn start() -> Self {
        Embedded::over(tempfile::tempdir().expect("temporary folder"))
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        self.queues.clone()
    }

    async fn restart(self) -> Self {
        let Embedded { opened, store, queues, folder, .. } = self;
        drop((opened, store, queues));
        Embedded::over(folder)
    }
}
