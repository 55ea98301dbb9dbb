//! Task queues: who may hand out the tasks of a queue, and the tasks.
//!
//! An owner holds a queue by its range id, takes the ids of its tasks from the block of that range, and reads from the
//! beginning of its block on. A task that somebody wrote under an older range would lie below that and never be seen, so
//! every write of tasks makes sure that the range is still the owner's when it commits. So does every deletion of tasks with
//! passes: a new owner may write tasks in passes that the owner before has completed.

mod complete_tasks;
mod create;
mod create_tasks;
mod delete;
mod get;
mod get_tasks;
mod key;
mod lease;
mod list;
mod tables;
mod update;

pub use create_tasks::{NewTask, TASKS_MAX};
pub use get_tasks::{GetTasks, Task};
pub use key::{SubQueue, TASK_QUEUE_NAME_LEN_MAX, TaskQueueKey, TaskType};
pub use lease::Lease;
pub use list::ListedTaskQueue;

use key::RowKey;
use tables::Tables;

use crate::{Blob, Database, Error, Result};

/// A task queue as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueue {
    /// The fence of its owner.
    pub range_id: i64,
    /// What the owner keeps in it.
    pub blob: Blob,
}

/// Where a task stands in its queue: by pass and then by id. Queues without passes have pass 0 throughout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskLevel {
    /// The round in which the task is due.
    pub pass: i64,
    /// The id, from the block of the range that wrote it.
    pub task_id: i64,
}

/// The task queues of a database, and their tasks.
#[derive(Clone, Debug)]
pub struct TaskQueues {
    database: Database,
    tables: &'static Tables,
}

impl TaskQueues {
    /// Those whose tasks are in the order of their ids: the tables `task_queues` and `tasks`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database, tables: tables::plain() }
    }

    /// Those whose tasks are in passes, so that many small senders are not behind one large one: the tables
    /// `task_queues_v2` and `tasks_v2`.
    #[must_use]
    pub fn fair(database: Database) -> Self {
        Self { database, tables: tables::fair() }
    }

    fn row_key(&self, key: &TaskQueueKey, sub_queue: SubQueue) -> RowKey {
        key.row_key(sub_queue, self.database.is_dsql())
    }

    /// A pass where there are passes, and none where there are none.
    fn check_pass(&self, level: TaskLevel) -> Result<()> {
        let wanted = match (self.tables.has_passes, level.pass) {
            (true, 1..) | (false, 0) => return Ok(()),
            (true, _) => "must be at least 1",
            (false, _) => "must be 0 in a queue without passes",
        };
        Err(Error::invalid("pass", format!("{wanted}, is {}", level.pass)))
    }
}

/// The queue has another owner, or none.
fn lease_lost(expected: i64, actual: Option<i64>) -> Error {
    Error::ConditionFailed { what: "task queue", expected: Some(expected), actual }
}
