//! Locks in the embedded store: durable, in a folder that this process owns.
//!
//! One thread writes. It takes all requests that wait, decides each on the state the one before it left, commits them
//! together with one wait for the disk, and only then answers. Reads go past it.

mod read;
mod tables;
mod writer;

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{Clock, Key, LockCode, LockId, LockRecord, SystemClock, TIME_TOLERANCE, Timestamp};
use leasehold_embedded::Store;
use tokio::sync::oneshot;

use self::writer::{Command, Writer};
use super::{Capabilities, LockBackend, TimeAuthority, rules};
use crate::{
    AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ListRequest, LookupBy,
    ReleaseOutcome, Result, Watch, WatchHub,
};

/// Locks in a folder. Judged by the clock of this process.
#[derive(Debug)]
pub struct EmbeddedBackend {
    store: Store,
    clock: Arc<dyn Clock>,
    hub: Arc<WatchHub>,
    writer: Writer,
}

impl EmbeddedBackend {
    /// Over an open store, which it may share with others. Blocks on the disk if the tables are new.
    pub fn open(store: Store) -> Result<Self> {
        EmbeddedBackend::with_clock(store, Arc::new(SystemClock))
    }

    /// Judged by this clock.
    pub fn with_clock(store: Store, clock: Arc<dyn Clock>) -> Result<Self> {
        tables::create(&store).map_err(|error| failed("open", error))?;
        let hub = Arc::new(WatchHub::default());
        let writer = Writer::start(store.clone(), clock.clone(), hub.clone());
        Ok(EmbeddedBackend { store, clock, hub, writer })
    }

    /// Hands a command to the writer and waits for its answer.
    async fn write<T>(
        &self,
        operation: &'static str,
        command: impl FnOnce(oneshot::Sender<Result<T>>) -> Command,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.writer.send(operation, command(answer)).await?;
        // The writer answers everything it takes; only its panic loses an answer, and then nothing is known.
        answered.await.map_err(|lost| Error::Indeterminate { operation, source: lost.into() })?
    }

    /// Reads on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&Store, Timestamp) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T> {
        let (store, now) = (self.store.clone(), now(&*self.clock));
        let done = tokio::task::spawn_blocking(move || read(&store, now)).await;
        done.map_err(|lost| failed(operation, lost))?.map_err(|error| failed(operation, error))
    }
}

/// Whole milliseconds, as every store of the contract counts them.
fn now(clock: &dyn Clock) -> Timestamp {
    Timestamp::from_millis(clock.now().as_millis())
}

/// Nothing was written.
fn failed(operation: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Store { operation, lock_code: LockCode::Internal, source: Box::new(source) }
}

#[async_trait]
impl LockBackend for EmbeddedBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let request = request.clone();
        self.write("acquire", |answer| Command::Acquire(request, answer)).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        self.write("extend", |answer| Command::Extend(*request, answer)).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        self.write("release", |answer| Command::Release(*lock_id, answer)).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        let key = key.clone();
        let found = self.read("is_locked", move |store, now| Ok((read::of_key(store, &key)?, now))).await?;
        Ok(found.0.is_some_and(|held| rules::live(&held, found.1)))
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        let found = match by {
            LookupBy::Key(key) => {
                let key = key.clone();
                self.read("lookup", move |store, now| Ok((read::of_key(store, &key)?, now))).await?
            }
            LookupBy::LockId(lock_id) => {
                let lock_id = *lock_id;
                self.read("lookup", move |store, now| Ok((read::of_lock_id(store, &lock_id)?, now))).await?
            }
        };
        Ok(found.0.filter(|held| rules::live(held, found.1)))
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        let request = request.clone();
        self.read("list", move |store, now| read::live_after(store, &request, now)).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.hub.watch(key.key_hash())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "embedded",
            time_authority: TimeAuthority::Server,
            tolerance: TIME_TOLERANCE,
            durable: true,
        }
    }
}
