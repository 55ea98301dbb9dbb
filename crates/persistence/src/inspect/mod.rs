//! What operators ask of a database: who owns what, and how far it is. Every statement is a read, and none waits for a lock.

mod execution;
mod queues;
mod shards;
mod task_queues;

pub use execution::{CurrentRun, ExecutionTokens, MapSize};
pub use queues::{NamedQueueDepth, QueueDepth, QueueDepths};
pub use shards::ShardRange;
pub use task_queues::{TaskQueueGeneration, TaskQueueLease, TaskQueueName, TaskQueuePosition};

use crate::{Database, Error, Result};

/// The most that one page of a list may have.
const PAGE_LEN_MAX: u32 = 1_000;

/// Looks at a database.
#[derive(Clone, Debug)]
pub struct Inspector {
    database: Database,
}

impl Inspector {
    /// Looks at `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

fn page_len(len: u32) -> Result<i64> {
    match len {
        1..=PAGE_LEN_MAX => Ok(i64::from(len)),
        _ => Err(Error::invalid("page_len", format!("must be 1 to {PAGE_LEN_MAX}, is {len}"))),
    }
}
