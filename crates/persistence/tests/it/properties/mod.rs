//! What holds for every write of every store: a bench to do them on, and a file per property that holds on both databases.

pub(crate) mod classes;
pub(crate) mod conflicts;
pub(crate) mod counted;
mod faults;
pub(crate) mod opening;

use std::collections::BTreeMap;

use leasehold_persistence::{Database, Error};
use leasehold_txn::{Dialect, DsqlLevel};

use crate::fixture::{Change, Content, Fixture, Pauses, Watcher};
use crate::writes::{Prepared, Write, all};
use faults::Faults;

/// What a test does its writes to.
pub(crate) struct Bench {
    pub(crate) fixture: Fixture,
    pub(crate) outside: Watcher,
    faults: Faults,
    seed: u16,
    /// What each write changes when nothing goes wrong.
    wanted: BTreeMap<&'static str, Change>,
}

impl Bench {
    pub(crate) async fn dsql(level: DsqlLevel) -> Self {
        let fixture = Fixture::dsql(level).await;
        let outside = Watcher::new(fixture.outside().await).await;
        Self { fixture, outside, faults: Faults::OfTheSimulator, seed: 0, wanted: BTreeMap::new() }
    }

    pub(crate) async fn postgres(dialect: Dialect) -> Self {
        let fixture = Fixture::postgres_as(dialect).await;
        let outside = Watcher::new(fixture.outside().await).await;
        let faults = Faults::by_triggers(&outside).await;
        Self { fixture, outside, faults, seed: 0, wanted: BTreeMap::new() }
    }

    /// The next `times` that a write comes by, it meets this failure.
    pub(crate) async fn strike(&self, failure: &str, times: u32) {
        self.faults.strike(&self.fixture, &self.outside, failure, times).await;
    }

    /// How often that happened; from now on it does not.
    pub(crate) async fn spare(&self) -> u64 {
        self.faults.spare(&self.fixture, &self.outside).await
    }

    /// A write to rows that nothing else touches.
    pub(crate) async fn prepared(&mut self, write: &Write) -> Prepared {
        self.seed += 1;
        (write.prepare)(self.fixture.database.clone(), self.seed).await
    }

    pub(crate) async fn about(&mut self, write: &Write) -> About {
        if !self.wanted.contains_key(write.name) {
            let reference = self.prepared(write).await;
            let before = self.outside.content().await;
            let done = reference(self.fixture.database.clone()).await;
            done.unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
            let wanted = before.until(&self.outside.content().await);
            assert!(!wanted.is_empty(), "{} changes nothing", write.name);
            self.wanted.insert(write.name, wanted);
        }
        let prepared = self.prepared(write).await;
        let before = self.outside.content().await;
        let wanted = self.wanted[write.name].clone();
        About { name: write.name, again: write.again, prepared, before, wanted }
    }
}

/// A write that is about to be done, and what the database holds before.
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) again: Option<&'static str>,
    pub(crate) prepared: Prepared,
    before: Content,
    pub(crate) wanted: Change,
}

impl About {
    /// What changed since.
    pub(crate) async fn change(&self, outside: &Watcher) -> Change {
        self.before.until(&outside.content().await)
    }

    /// It did not happen, so it can be done now.
    pub(crate) async fn expect_nothing_then_do(&self, database: &Database, outside: &Watcher, case: &str) {
        assert_eq!(self.change(outside).await, Change::new(), "{} {case}", self.name);
        let mut done = (self.prepared)(database.clone()).await;
        // The pool may still believe in connections that are gone.
        for _ in 0..database.pool().size_max() {
            let is_gone =
                |error: &Error| matches!(error.code(), "state.unavailable" | "state.unknown_outcome");
            if !done.as_ref().is_err_and(is_gone) || !self.change(outside).await.is_empty() {
                break;
            }
            done = (self.prepared)(database.clone()).await;
        }
        done.unwrap_or_else(|error| panic!("{} after {case}: {error:?}", self.name));
    }
}

pub(crate) fn write(name: &str) -> &'static Write {
    all().find(|write| write.name == name).expect("the write")
}
