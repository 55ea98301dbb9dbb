//! Changes a task queue, or takes it over, if it is still at the range that the caller knows.

use leasehold_txn::{Abort, Operation, Parameters};

use super::{TaskQueue, TaskQueueKey, TaskQueues, lease_lost};
use crate::sql::column;
use crate::{Error, Result};

const UPDATE: Operation = Operation::new("state.update_task_queue");

impl TaskQueues {
    /// Stores `queue`, if what is stored is at `previous_range_id`. A range of its own, higher than that, takes the queue
    /// over: tasks that were begun under the range before are committed before this, or never.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the range differs or there is no such queue, [`Error::InvalidRequest`] when the
    /// range would go down.
    pub async fn update(&self, key: &TaskQueueKey, queue: &TaskQueue, previous_range_id: i64) -> Result<()> {
        let previous = previous_range_id;
        if queue.range_id < previous {
            let reason = format!("must not go down from {previous}, is {}", queue.range_id);
            return Err(Error::invalid("range_id", reason));
        }
        let row = self.row_key(key, 0);
        let (data, encoding) = (queue.blob.data(), queue.blob.encoding());
        // The range is not named unless it changes.
        let keeping: Parameters<'_> = &[&row.range_hash, &row.id, &previous, &data, &encoding];
        let raising: Parameters<'_> =
            &[&row.range_hash, &row.id, &previous, &data, &encoding, &queue.range_id];
        let (update, values) = match queue.range_id == previous {
            true => (self.database.words(self.tables.update_data), keeping),
            false => (self.database.words(self.tables.update), raising),
        };
        // Where a lock is waited for, the range is known once it is held. Where nobody waits, a lock adds nothing to the
        // update.
        let read =
            if self.database.is_dsql() { self.tables.select_range.dsql } else { self.tables.lock.postgres };
        let key: Parameters<'_> = &[&row.range_hash, &row.id];
        self.database
            .run_patiently(UPDATE, |tx| {
                Box::pin(async move {
                    let (row, touched) = tokio::join!(tx.query_opt(read, key), tx.execute(update, values));
                    let row = row?;
                    if touched? == 1 {
                        return Ok(());
                    }
                    let actual = row.map(|row| column(&row, "range_id")).transpose();
                    Err(Abort::Condition(lease_lost(previous, actual.map_err(Abort::Condition)?)))
                })
            })
            .await
    }
}
