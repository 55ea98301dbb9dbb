//! Locks in Google's Firestore, in the collections and documents that SyncGuard uses.
//!
//! Nothing is locked while an operation thinks. It reads documents, decides, and writes on the condition that every
//! document it decided on still has the version it was read in; Firestore does all the writes of a commit or none. A
//! client that stops midway leaves nothing behind that others would have to wait for, as an open transaction would.
//!
//! Firestore has no clock that a commit could be judged by, so each client judges expiry by its own. See [`SkewCheck`].

mod acquire;
mod api;
mod attempts;
mod client;
mod config;
mod documents;
mod errors;
mod extend;
mod holds;
mod inspect;
mod list;
mod lookup;
mod names;
mod owned;
mod release;
mod skew;
mod turn;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
pub use config::Config;
pub use inspect::{ClockReading, Condition, Hindrance, Holds, Why, inspect};
pub use leasehold_core::firestore::{Collections, NestedKeys};
use leasehold_core::{Clock, Key, KeyHash, LockId, LockRecord, SystemClock, TIME_TOLERANCE, Timestamp};
pub use skew::SkewCheck;
use tokio::sync::Mutex;

use self::api::{Document, StructuredQuery, Version, Write};
use self::attempts::Attempts;
use self::client::Client;
use self::errors::Failure;
use self::holds::{Known, KnownHolds};
use self::names::Names;
use self::skew::{SkewGauge, Skewed};
use self::turn::Turn;
use super::{Capabilities, LockBackend, TimeAuthority};
use crate::per_key::PerKey;
use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LookupBy, ReleaseOutcome,
    Result, Watch, WatchHub,
};

/// Locks in a Firestore database, over one connection.
#[derive(Debug)]
pub struct FirestoreBackend {
    client: Client,
    names: Names,
    known: KnownHolds,
    /// Whose turn it is to ask for a key, within this process.
    turns: PerKey<KeyHash, Mutex<Turn>>,
    clock: Arc<dyn Clock>,
    skew: SkewGauge,
    hub: WatchHub,
    cleanup_in_is_locked: bool,
    timeout: Duration,
}

impl FirestoreBackend {
    /// Connects, and reads once to see that the database can be reached and that the clocks agree.
    ///
    /// # Errors
    /// Without credentials, without a connection, without the right to read, or with a clock that is too far off.
    pub async fn connect(config: &Config) -> Result<Self> {
        Self::connect_with_clock(config, Arc::new(SystemClock)).await
    }

    /// The same, with expiry judged by this clock.
    ///
    /// # Errors
    /// As [`FirestoreBackend::connect`].
    pub async fn connect_with_clock(config: &Config, clock: Arc<dyn Clock>) -> Result<Self> {
        const OPERATION: &str = "connect";
        let names = Names::new(config);
        let backend = FirestoreBackend {
            client: Client::connect(config, &names.database).await?,
            names,
            known: KnownHolds::default(),
            turns: PerKey::default(),
            clock,
            skew: SkewGauge::new(config.skew_check),
            hub: WatchHub::default(),
            cleanup_in_is_locked: config.cleanup_in_is_locked,
            timeout: config.timeout,
        };
        let any = backend.names.place(&Key::parse(OPERATION)?)?;
        match backend.read_in_time(OPERATION, [&any.counter]).await {
            Ok(_) => Ok(backend),
            Err(failure) => Err(failure.into_error(OPERATION, None)),
        }
    }

    /// Whole milliseconds, as peers count them.
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis())
    }

    fn attempts(&self, operation: &'static str) -> Attempts {
        Attempts::new(operation, self.timeout)
    }

    /// Reads documents to decide whether a hold has ended. With a clock that is off, that would be a guess.
    async fn read_in_time<const N: usize>(
        &self,
        operation: &'static str,
        names: [&str; N],
    ) -> Result<[Option<Document>; N], Failure> {
        let (documents, measured) = self.read_and_measure(names).await?;
        measured.map_err(|skewed| skewed.into_error(operation))?;
        Ok(documents)
    }

    /// Reads documents, and tells whether our clock may judge them. Who releases must not be held up by one that is off.
    async fn read_and_measure<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<([Option<Document>; N], Result<(), Skewed>), Failure> {
        let sent = self.clock.now();
        let read = self.client.get(names).await.map_err(Failure::of_read)?;
        Ok((read.what, self.measure(sent, read.at)))
    }

    async fn query_and_measure(
        &self,
        query: StructuredQuery,
    ) -> Result<(Vec<Document>, Result<(), Skewed>), Failure> {
        let sent = self.clock.now();
        let found = self.client.query(&self.names.root, query).await.map_err(Failure::of_read)?;
        Ok((found.what, self.measure(sent, found.at)))
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<Vec<Option<Version>>, Failure> {
        let sent = self.clock.now();
        let committed = self.client.commit(writes).await.map_err(Failure::of_commit)?;
        // It is done, whatever the clocks say; who comes next hears of it.
        let _too_late = self.measure(sent, committed.at);
        Ok(committed.what)
    }

    fn measure(&self, sent: Timestamp, done: Option<Timestamp>) -> Result<(), Skewed> {
        done.map_or(Ok(()), |done| self.skew.measure([sent, done, self.clock.now()], self.clock.instant()))
    }

    /// Whether our clock may judge without being compared with Firestore's first.
    fn is_clock_steady(&self) -> bool {
        self.skew.is_steady(self.clock.now(), self.clock.instant())
    }

    /// Deletes ended duplicates, if there are any.
    async fn clear(&self, clearing: Vec<Write>) -> Result<(), Failure> {
        if !clearing.is_empty() {
            self.commit(clearing).await?;
        }
        Ok(())
    }

    /// The live hold that this process wrote last under the lock id, with its version.
    fn unchanged(&self, lock_id: &LockId) -> Option<(Version, Known)> {
        let known = self.known.get(lock_id).filter(|known| known.is_live(self.now()))?;
        Some((known.version?, known))
    }
}

#[async_trait]
impl LockBackend for FirestoreBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        acquire::acquire(self, request).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        extend::extend(self, request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        release::release(self, lock_id).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        lookup::is_locked(self, key).await
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        lookup::lookup(self, by).await
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        list::list(self, request).await
    }

    /// Of what this process releases. Firestore could tell of the rest by a listener, at the price of a read for every
    /// change of every waiter's key: waiters ask again instead.
    async fn watch(&self, key: &Key) -> Watch {
        self.hub.watch(key.key_hash())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "firestore",
            time_authority: TimeAuthority::Client,
            tolerance: TIME_TOLERANCE,
            durable: true,
        }
    }
}
