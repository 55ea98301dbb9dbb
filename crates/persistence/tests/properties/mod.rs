//! What holds for every write of every store, on DSQL simulated: a file per property.

mod classes;
mod conflicts;
mod counted;
mod integrity;
mod locking;
mod opening;

use std::collections::BTreeMap;

use leasehold_persistence::{Database, Error};
use leasehold_txn::DsqlLevel;
use tokio_postgres::Client;

use crate::fixture::{Change, Content, Fixture};
use crate::writes::{Prepared, Write, all};

/// What a test does its writes to.
struct Bench {
    fixture: Fixture,
    outside: Client,
    seed: u16,
    /// What each write changes when nothing goes wrong.
    wanted: BTreeMap<&'static str, Change>,
}

impl Bench {
    async fn at(level: DsqlLevel) -> Self {
        let fixture = Fixture::dsql(level).await;
        let outside = fixture.outside().await;
        Self { fixture, outside, seed: 0, wanted: BTreeMap::new() }
    }

    /// A write to rows that nothing else touches.
    async fn prepared(&mut self, write: &Write) -> Prepared {
        self.seed += 1;
        (write.prepare)(self.fixture.database.clone(), self.seed).await
    }

    async fn about(&mut self, write: &Write) -> About {
        if !self.wanted.contains_key(write.name) {
            let reference = self.prepared(write).await;
            let before = Content::of(&self.outside).await;
            let done = reference(self.fixture.database.clone()).await;
            done.unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
            let wanted = before.until(&Content::of(&self.outside).await);
            assert!(!wanted.is_empty(), "{} changes nothing", write.name);
            self.wanted.insert(write.name, wanted);
        }
        let prepared = self.prepared(write).await;
        let before = Content::of(&self.outside).await;
        let wanted = self.wanted[write.name].clone();
        About { name: write.name, again: write.again, prepared, before, wanted }
    }
}

/// A write that is about to be done, and what the database holds before.
struct About {
    name: &'static str,
    again: Option<&'static str>,
    prepared: Prepared,
    before: Content,
    wanted: Change,
}

impl About {
    /// What changed since.
    async fn change(&self, outside: &Client) -> Change {
        self.before.until(&Content::of(outside).await)
    }

    /// It did not happen, so it can be done now.
    async fn expect_nothing_then_do(&self, database: &Database, outside: &Client, case: &str) {
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

fn write(name: &str) -> &'static Write {
    all().find(|write| write.name == name).expect("the write")
}
