//! The contract over the embedded store, and what it promises beyond: everything outlives the process.

use std::sync::Arc;

use leasehold_embedded::Store as Folder;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::embedded::{EmbeddedQueues, EmbeddedStore};
use leasehold_queue::{QueueStore, Store, store_conformance};
use tempfile::TempDir;

struct Embedded {
    store: Arc<EmbeddedStore>,
    queues: Arc<EmbeddedQueues>,
    folder: TempDir,
}

impl Embedded {
    fn over(folder: TempDir) -> Self {
        let opened = Folder::open(folder.path()).expect("the folder is free");
        let queues = Arc::new(EmbeddedQueues::open(opened.clone()).expect("opens"));
        Embedded { store: Arc::new(EmbeddedStore::open(opened).expect("opens")), queues, folder }
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
        let Embedded { store, queues, folder } = self;
        drop((store, queues));
        Embedded::over(folder)
    }
}

store_conformance!(Embedded);
