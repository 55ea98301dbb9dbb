//! A folder with partitions and queues in it, on a disk that can fail.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;

use async_trait::async_trait;
use leasehold_embedded::Store as Folder;
use leasehold_embedded::Written;
use leasehold_embedded::faults::Faults;
use leasehold_queue::conformance::Harness;
use leasehold_queue::conformance::store::Line;
use leasehold_queue::store::embedded::{EmbeddedQueues, EmbeddedStore};
use leasehold_queue::{QueueStore, Store};
use tempfile::TempDir;

pub(crate) struct Embedded {
    store: Arc<EmbeddedStore>,
    queues: Arc<EmbeddedQueues>,
    disk: Disk,
}

/// What a test does to a folder behind its store's back. The folder stays open as long as this lives.
#[derive(Clone)]
pub(crate) struct Disk {
    pub(crate) opened: Folder,
    pub(crate) faults: Faults,
    pub(crate) folder: Arc<TempDir>,
}

impl Embedded {
    pub(crate) fn over(folder: Arc<TempDir>) -> Self {
        Embedded::on(folder, Faults::none())
    }

    pub(crate) fn on(folder: Arc<TempDir>, faults: Faults) -> Self {
        let opened = Folder::open_with_faults(folder.path(), &faults).expect("the folder is free");
        let queues = Arc::new(EmbeddedQueues::open(opened.clone()).expect("opens"));
        let store = Arc::new(EmbeddedStore::open(opened.clone()).expect("opens"));
        Embedded { disk: Disk { opened, faults, folder }, store, queues }
    }

    pub(crate) fn faults(&self) -> Faults {
        self.disk.faults.clone()
    }

    /// Its partition, opened, and its disk.
    pub(crate) async fn line(self) -> (Line, Disk) {
        let disk = self.disk.clone();
        (Line::over(Box::new(self)).await, disk)
    }
}

impl Disk {
    /// Keeps the writer busy until what is returned is dropped.
    pub(crate) async fn hold_writer(&self) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel::<()>();
        let released = Mutex::new(released);
        let job = move |_: &redb::WriteTransaction| {
            let _ = released.lock().expect("nobody panicked").recv();
            Ok(Written::Nothing(()))
        };
        self.opened.submit(job, drop).await.expect("is taken");
        release
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        std::fs::metadata(self.folder.path().join("leasehold.redb")).expect("is there").len()
    }
}

#[async_trait]
impl Harness for Embedded {
    async fn start() -> Self {
        Embedded::over(Arc::new(tempfile::tempdir().expect("temporary folder")))
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn shortened(&self) -> u32 {
        5
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        self.queues.clone()
    }

    async fn restart(self: Box<Self>) -> Box<dyn Harness> {
        let folder = self.disk.folder.clone();
        drop(self);
        Box::new(Embedded::over(folder))
    }
}

/// Begins a call, and drops it midway.
pub(crate) async fn begin_and_drop<F: Future>(call: F)
where
    F::Output: std::fmt::Debug,
{
    let mut call = pin!(call);
    let answer = poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => Poll::Ready(None),
    });
    assert!(answer.await.is_none(), "it was not midway");
}
