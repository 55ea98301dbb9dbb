//! Locks in the embedded store: durable, in a folder that this process owns.
//!
//! The store's one thread writes. It takes all requests that wait, decides each on the state the one before it left,
//! commits them together with one wait for the disk, and only then answers. Reads go past it.

mod read;
mod tables;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{
    Class, Clock, Key, LockCode, LockId, LockRecord, SystemClock, TIME_TOLERANCE, Timestamp,
};
use leasehold_embedded::{Store, Written};
use redb::{ReadTransaction, WriteTransaction};
use tokio::sync::oneshot;

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
}

impl EmbeddedBackend {
    /// Over an open store, which it may share with others. Blocks on the disk if the tables are new.
    pub fn open(store: Store) -> Result<Self> {
        EmbeddedBackend::with_clock(store, Arc::new(SystemClock))
    }

    /// Judged by this clock.
    pub fn with_clock(store: Store, clock: Arc<dyn Clock>) -> Result<Self> {
        tables::create(&store).map_err(|error| unwritten("open", error))?;
        Ok(EmbeddedBackend { store, clock, hub: Arc::new(WatchHub::default()) })
    }

    /// Has the writer decide, and waits until the decision is on the disk. `told` hears of it first, and also when
    /// nobody waits for the answer any more.
    async fn write<T: Send + 'static>(
        &self,
        operation: &'static str,
        decide: impl Fn(&WriteTransaction, Timestamp) -> Result<Written<Result<T>>, redb::Error> + Send + 'static,
        told: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T> {
        let clock = self.clock.clone();
        let (answer, answered) = oneshot::channel();
        let settle = move |outcome: leasehold_embedded::Result<Result<T>>| {
            let outcome = outcome.map_err(|error| unwritten(operation, error)).flatten();
            if let Ok(outcome) = &outcome {
                told(outcome);
            }
            // A receiver that is gone does not want to know.
            drop(answer.send(outcome));
        };
        let taken = self.store.submit(move |write| decide(write, now(&*clock)), settle).await;
        taken.map_err(|error| unwritten(operation, error))?;
        // The writer answers everything it takes; only its panic loses an answer, and then nothing is known.
        answered.await.map_err(|lost| Error::Indeterminate { operation, source: lost.into() })?
    }

    /// Reads on a thread that may block.
    async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        read: impl FnOnce(&ReadTransaction, Timestamp) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T> {
        let (store, now) = (self.store.clone(), now(&*self.clock));
        let done =
            tokio::task::spawn_blocking(move || store.read(|transaction| read(transaction, now))).await;
        done.map_err(|lost| failed(operation, lost))?.map_err(|error| unwritten(operation, error))
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

fn unwritten(operation: &'static str, error: leasehold_embedded::Error) -> Error {
    match error.class() {
        Class::Indeterminate => Error::Indeterminate { operation, source: error.into() },
        Class::Unavailable => {
            Error::Store { operation, lock_code: LockCode::ServiceUnavailable, source: error.into() }
        }
        _ => failed(operation, error),
    }
}

#[async_trait]
impl LockBackend for EmbeddedBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let request = request.clone();
        let clock = self.clock.clone();
        // Once whoever asked is gone, a grant would be nobody's: so this one is not written unseen.
        let decided = self.store.write(move |write| write::acquire(write, &request, now(&*clock))).await;
        decided.map_err(|error| unwritten("acquire", error))?
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        let request = *request;
        self.write("extend", move |write, now| write::extend(write, &request, now), |_| ()).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let (lock_id, hub) = (*lock_id, self.hub.clone());
        let told = move |(_, freed): &(ReleaseOutcome, Option<LockRecord>)| {
            freed.iter().for_each(|freed| hub.freed(freed.key.key_hash()));
        };
        let released = self.write("release", move |write, now| write::release(write, &lock_id, now), told);
        Ok(released.await?.0)
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        let key = key.clone();
        let found = self.read("is_locked", move |read, now| Ok((read::of_key(read, &key)?, now))).await?;
        Ok(found.0.is_some_and(|held| rules::live(&held, found.1)))
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        let found = match by {
            LookupBy::Key(key) => {
                let key = key.clone();
                self.read("lookup", move |read, now| Ok((read::of_key(read, &key)?, now))).await?
            }
            LookupBy::LockId(lock_id) => {
                let lock_id = *lock_id;
                self.read("lookup", move |read, now| Ok((read::of_lock_id(read, &lock_id)?, now))).await?
            }
        };
        Ok(found.0.filter(|held| rules::live(held, found.1)))
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        let request = request.clone();
        self.read("list", move |read, now| read::live_after(read, &request, now)).await
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
