//! What operators ask of a database beyond what its stores list: who owns what, and how far it is. Every statement is a read, and none waits for a lock.

mod execution;
mod queues;
mod shards;
mod task_queues;
mod told;

pub use execution::{CurrentRun, ExecutionTokens, MapSize};
pub use queues::{QueueDepth, QueueDepths};
pub use shards::ShardRange;

use crate::Database;

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
