//! Deletes tasks that are done.

use leasehold_txn::{Operation, Parameters};

use super::range::Bounds;
use super::tables::Statements;
use super::{HistoryTaskKey, HistoryTaskRange, HistoryTasks};
use crate::Result;
use crate::shard::ShardId;
use crate::sql::Sql;
use crate::time::Stored;

const COMPLETE: Operation = Operation::new("state.complete_history_task");
const COMPLETE_RANGE: Operation = Operation::new("state.complete_history_tasks");

impl HistoryTasks {
    /// Deletes a task. It is no error if there is none.
    ///
    /// A completion that Temporal asks for as best effort is none at all here: the range that holds the task is deleted
    /// later anyway.
    ///
    /// # Errors
    /// As every write.
    pub async fn complete(&self, shard_id: ShardId, task: &HistoryTaskKey) -> Result<()> {
        let delete = Statements::of(task.category.table()).delete;
        let category_id = task.category.id();
        match task.visibility.map(Stored) {
            None => self.database.write(COMPLETE, delete, &[&shard_id, &category_id, &task.task_id]).await?,
            Some(time) => {
                let values: Parameters<'_> = &[&shard_id, &category_id, &time, &task.task_id];
                self.database.write(COMPLETE, delete, values).await?
            }
        };
        Ok(())
    }

    /// Deletes the tasks of a range. It is no error if there are none.
    ///
    /// DSQL deletes many in several transactions; a call that fails may have deleted some, the first ones first.
    ///
    /// # Errors
    /// As every write.
    pub async fn complete_range(&self, shard_id: ShardId, range: &HistoryTaskRange) -> Result<()> {
        let category_id = range.category.id();
        let Statements { delete_range, delete_some, .. } = Statements::of(range.category.table());
        match &range.bounds {
            Bounds::Ids(ids) => {
                let values: Parameters<'_> = &[&shard_id, &category_id, &ids.start, &ids.end];
                self.delete_range(delete_range, delete_some, values).await
            }
            Bounds::Times(times) => {
                let (start, end) = (Stored(times.start), Stored(times.end));
                let values: Parameters<'_> = &[&shard_id, &category_id, &start, &end];
                self.delete_range(delete_range, delete_some, values).await
            }
        }
    }

    async fn delete_range(&self, whole: Sql, some: Sql, values: Parameters<'_>) -> Result<()> {
        if self.database.is_dsql() {
            self.database.delete_in_batches(COMPLETE_RANGE, some, values, u64::MAX).await?;
        } else {
            self.database.write(COMPLETE_RANGE, whole, values).await?;
        }
        Ok(())
    }
}
