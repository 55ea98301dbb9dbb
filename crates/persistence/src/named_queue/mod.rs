//! Queues by type and name, such as the dead letters of history tasks between two clusters.
//!
//! Ids count from 0 without a hole and are never given twice: the last message stays in its table even when it is deleted, and
//! the minimum that the queue keeps hides it. Should it be gone all the same, the minimum counts.

mod create;
mod delete_range;
mod enqueue;
mod list;
mod metadata;
mod read;

use crate::sql::Sql;
use crate::{Database, Result, bounds};

const SELECT_QUEUE: Sql = Sql::same(include_str!("sql/select_queue.sql"));
/// Whoever adds or deletes messages holds it first, so that they do so one after the other.
const LOCK_QUEUE: &str = include_str!("sql/lock_queue.sql");

/// The type and name of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedQueueKey {
    queue_type: i32,
    name: String,
}

impl NamedQueueKey {
    /// A key. Types are the caller's; Temporal has 1 for history tasks and 2 for their dead letters.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the name is empty, longer than
    /// [`NAME_LEN_MAX`](crate::NAME_LEN_MAX) or has a zero byte in it.
    pub fn new(queue_type: i32, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        bounds::name("queue_name", &name)?;
        Ok(Self { queue_type, name })
    }

    /// The type.
    #[must_use]
    pub const fn queue_type(&self) -> i32 {
        self.queue_type
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A queue in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedQueue {
    /// Its type and name.
    pub key: NamedQueueKey,
    /// How many messages are in it.
    pub message_count: i64,
    /// The id of the first that was not deleted, or that the next one will have.
    pub min_message_id: i64,
}

/// The queues of a database.
#[derive(Clone, Debug)]
pub struct NamedQueues {
    database: Database,
}

impl NamedQueues {
    /// The queues of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}
