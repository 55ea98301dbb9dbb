//! Every write of every store, each so that it can be done anywhere, any number of times, to rows of its own.

mod execution;
mod history;
mod history_task;
mod metadata;
mod queues;
mod task_queue;

use std::pin::Pin;

use leasehold_persistence::{Database, Result};

/// A write under way.
pub(crate) type Writing = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A write with all that it needs to know, tokens too. Done twice, it is the same request twice.
pub(crate) type Prepared = Box<dyn Fn(Database) -> Writing + Send + Sync>;

/// A write about to be known.
pub(crate) type Preparing = Pin<Box<dyn Future<Output = Prepared> + Send>>;

/// One write of a store.
pub(crate) struct Write {
    pub(crate) name: &'static str,
    /// Makes what must be there before, and reads the tokens. Every seed has rows of its own, but for those of which a
    /// database has one.
    pub(crate) prepare: fn(Database, u16) -> Preparing,
    /// What it answers when it was done already: an error of this code, or, without one, success again.
    pub(crate) again: Option<&'static str>,
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Write> {
    [execution::ALL, history::ALL, history_task::ALL, metadata::ALL, queues::ALL, task_queue::ALL]
        .into_iter()
        .flatten()
}

fn prepared<F, W>(write: F) -> Prepared
where
    F: Fn(Database) -> W + Send + Sync + 'static,
    W: Future<Output = Result<()>> + Send + 'static,
{
    Box::new(move |database| Box::pin(write(database)))
}

/// Sixteen bytes that no other seed has.
fn bytes(seed: u16) -> [u8; 16] {
    let mut bytes = [7; 16];
    bytes[..2].copy_from_slice(&seed.to_be_bytes());
    bytes
}

macro_rules! writes {
    ($($name:literal, $again:expr, |$database:ident, $seed:ident| $body:block;)*) => {
        pub(super) const ALL: &[Write] = &[$(
            Write { name: $name, again: $again, prepare: |$database, $seed| Box::pin(async move $body) },
        )*];
    };
}
use writes;
