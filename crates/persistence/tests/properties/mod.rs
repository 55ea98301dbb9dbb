//! What holds for every write of every store, on DSQL simulated: a file per property.

mod classes;
mod conflicts;
mod counted;
mod integrity;
mod locking;
mod opening;

use leasehold_persistence::Database;
use tokio_postgres::Client;

use crate::fixture::{Change, Content, Fixture};
use crate::writes::{Prepared, Write, all};

/// Numbers for rows that nothing else in a test touches.
struct Seeds(u16);

impl Seeds {
    fn next(&mut self) -> u16 {
        self.0 += 1;
        self.0
    }
}

/// A write that is about to be done, and what the database holds before.
struct About {
    name: &'static str,
    again: Option<&'static str>,
    prepared: Prepared,
    before: Content,
    /// What it changes when nothing goes wrong.
    wanted: Change,
}

impl About {
    /// Prepares a write twice: once to see what it changes when all is well, once for what is to come.
    async fn of(write: &Write, fixture: &Fixture, outside: &Client, seeds: &mut Seeds) -> Self {
        let database = || fixture.database.clone();
        let reference = (write.prepare)(database(), seeds.next()).await;
        let before = Content::of(outside).await;
        reference(database()).await.unwrap_or_else(|error| panic!("{}: {error:?}", write.name));
        let wanted = before.until(&Content::of(outside).await);
        assert!(!wanted.is_empty(), "{} changes nothing", write.name);
        let prepared = (write.prepare)(database(), seeds.next()).await;
        let before = Content::of(outside).await;
        Self { name: write.name, again: write.again, prepared, before, wanted }
    }

    /// What changed since.
    async fn change(&self, outside: &Client) -> Change {
        self.before.until(&Content::of(outside).await)
    }

    /// It did not happen, so it can be done now.
    async fn expect_nothing_then_do(&self, database: &Database, outside: &Client, case: &str) {
        assert_eq!(self.change(outside).await, Change::new(), "{} {case}", self.name);
        let done = (self.prepared)(database.clone()).await;
        done.unwrap_or_else(|error| panic!("{} after {case}: {error:?}", self.name));
        assert_eq!(self.change(outside).await, self.wanted, "{} after {case}", self.name);
    }
}
