//! Deletes tasks that are done.

use leasehold_txn::{Abort, Operation, Parameters};

use super::key::RowKey;
use super::{SubQueue, TaskLevel, TaskQueueKey, TaskQueues, lease_lost};
use crate::delete_in_batches::ROWS_MAX;
use crate::sql::column;
use crate::{Error, Result};

const COMPLETE_TASKS: Operation = Operation::new("state.complete_tasks");

impl TaskQueues {
    /// Deletes the lowest tasks of a part of a plain queue, those below a level and at most `limit`. Returns the number of
    /// deleted tasks; fewer than `limit` means that none is left.
    ///
    /// No lease is needed: every owner writes above all ids of the owners before it, so a late deletion cannot meet a new
    /// task. Passes give no such order, so a queue with passes needs a lease:
    /// [`Lease::complete_tasks_less_than`](super::Lease::complete_tasks_less_than).
    ///
    /// DSQL deletes so many in several transactions; a call that fails may have deleted some.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the queue has passes, the limit is 0 or the level has a pass.
    pub async fn complete_tasks_less_than(
        &self,
        key: &TaskQueueKey,
        sub_queue: SubQueue,
        below: TaskLevel,
        limit: u32,
    ) -> Result<u64> {
        if self.tables.has_passes {
            let reason = "must be one without passes: complete these tasks under a lease".to_owned();
            return Err(Error::invalid("queue", reason));
        }
        self.check_completion(below, limit)?;
        let row = self.row_key(key, sub_queue);
        let rows_max = i64::from(limit);
        let values: Parameters<'_> = &[&row.range_hash, &row.id, &below.task_id];
        let delete = self.tables.delete_tasks;
        if self.database.is_dsql() {
            return self.database.delete_in_batches(COMPLETE_TASKS, delete, values, limit.into()).await;
        }
        let values = [values, &[&rows_max]].concat();
        self.database.write(COMPLETE_TASKS, delete, &values).await
    }

    /// Deletes the lowest tasks of a part of a queue, those below a level and at most `limit`, while the queue is at
    /// `range_id`. Returns the number of deleted tasks; fewer than `limit` means that none is left.
    ///
    /// Each transaction deletes at most 1,000 tasks and fences the range again; a call that fails may have deleted some.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the range differs or there is no such queue, [`Error::InvalidRequest`] when the limit
    /// is 0 or the pass is not one of these queues.
    pub async fn complete_tasks_under(
        &self,
        key: &TaskQueueKey,
        range_id: i64,
        sub_queue: SubQueue,
        below: TaskLevel,
        limit: u32,
    ) -> Result<u64> {
        self.check_completion(below, limit)?;
        let (queue, part) = (self.row_key(key, 0), self.row_key(key, sub_queue));
        let mut deleted = 0;
        loop {
            let batch = ROWS_MAX.min(u64::from(limit) - deleted);
            let touched = self.delete_under(range_id, &queue, &part, below, batch).await?;
            deleted += touched;
            if touched < batch || deleted >= u64::from(limit) {
                return Ok(deleted);
            }
        }
    }

    async fn delete_under(
        &self,
        range_id: i64,
        queue: &RowKey,
        part: &RowKey,
        below: TaskLevel,
        batch: u64,
    ) -> Result<u64> {
        let rows = i64::try_from(batch).expect("a batch is small");
        let queue: Parameters<'_> = &[&queue.range_hash, &queue.id];
        let of_fair: Parameters<'_> = &[&part.range_hash, &part.id, &below.task_id, &below.pass, &rows];
        let of_plain: Parameters<'_> = &[&part.range_hash, &part.id, &below.task_id, &rows];
        let values = if self.tables.has_passes { of_fair } else { of_plain };
        let (lock, delete) =
            (self.database.words(self.tables.lock), self.database.words(self.tables.delete_tasks));
        self.database
            .run(COMPLETE_TASKS, |tx| {
                Box::pin(async move {
                    let (row, deleted) = tokio::join!(tx.query_opt(lock, queue), tx.execute(delete, values));
                    let actual = row?.map(|row| column(&row, "range_id")).transpose();
                    match actual.map_err(Abort::Condition)? {
                        Some(actual) if actual == range_id => Ok(deleted?),
                        actual => Err(Abort::Condition(lease_lost(range_id, actual))),
                    }
                })
            })
            .await
    }

    fn check_completion(&self, below: TaskLevel, limit: u32) -> Result<()> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1, is 0".to_owned()));
        }
        self.check_pass(below)
    }
}
