//! Writes tasks into a queue that the caller owns.

use leasehold_txn::{Abort, Operation, Parameters};

use super::{SubQueue, TaskLevel, TaskQueueKey, TaskQueues, lease_lost};
use crate::sql::column;
use crate::{Blob, Error, Result};

const CREATE_TASKS: Operation = Operation::new("state.create_tasks");

/// The most tasks of one request.
pub const TASKS_MAX: usize = 1000;

/// A task on its way into a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// Which part of the queue it goes to.
    pub sub_queue: SubQueue,
    /// Where it stands there.
    pub level: TaskLevel,
    /// The task.
    pub blob: Blob,
}

impl TaskQueues {
    /// Writes tasks, all or none, if the queue is at `range_id` as they are committed.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the range differs or there is no such queue, [`Error::InvalidRequest`] when there are
    /// no tasks or more than [`TASKS_MAX`], or a pass is not one of these queues.
    pub async fn create_tasks(&self, key: &TaskQueueKey, range_id: i64, tasks: &[NewTask]) -> Result<()> {
        if !(1..=TASKS_MAX).contains(&tasks.len()) {
            let reason = format!("must be 1 to {TASKS_MAX}, are {}", tasks.len());
            return Err(Error::invalid("tasks", reason));
        }
        for task in tasks {
            self.check_pass(task.level)?;
        }
        let rows: Vec<_> = tasks.iter().map(|task| self.row_key(key, task.sub_queue)).collect();
        let hashes: Vec<_> = rows.iter().map(|row| row.range_hash).collect();
        let ids: Vec<_> = rows.iter().map(|row| &row.id).collect();
        let task_ids: Vec<_> = tasks.iter().map(|task| task.level.task_id).collect();
        let data: Vec<_> = tasks.iter().map(|task| task.blob.data()).collect();
        let encodings: Vec<_> = tasks.iter().map(|task| task.blob.encoding()).collect();
        let passes: Vec<_> = tasks.iter().map(|task| task.level.pass).collect();
        let with_passes: Parameters<'_> = &[&hashes, &ids, &task_ids, &data, &encodings, &passes];
        let values = if self.tables.has_passes { with_passes } else { &with_passes[..5] };

        let queue = self.row_key(key, 0);
        let queue: Parameters<'_> = &[&queue.range_hash, &queue.id];
        let (lock, insert) =
            (self.database.words(self.tables.lock), self.database.words(self.tables.insert_tasks));
        self.database
            .run(CREATE_TASKS, |tx| {
                Box::pin(async move {
                    // Sent together. Whose queue it is comes first: a task of the same id is no wonder if it is another's.
                    let (row, inserted) = tokio::join!(tx.query_opt(lock, queue), tx.execute(insert, values));
                    let actual = row?.map(|row| column(&row, "range_id")).transpose();
                    match actual.map_err(Abort::Condition)? {
                        Some(actual) if actual == range_id => {}
                        actual => return Err(Abort::Condition(lease_lost(range_id, actual))),
                    }
                    inserted?;
                    Ok(())
                })
            })
            .await
    }
}
