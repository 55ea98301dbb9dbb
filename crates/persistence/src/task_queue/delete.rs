//! Deletes a task queue that the caller owns.

use leasehold_txn::Operation;

use super::{TaskQueueKey, TaskQueues, lease_lost};
use crate::Result;

const DELETE: Operation = Operation::new("state.delete_task_queue");

impl TaskQueues {
    /// Deletes the queue, if it is at `range_id`. Its tasks stay.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`](crate::Error::ConditionFailed) when the range differs or there is no such queue.
    pub async fn delete(&self, key: &TaskQueueKey, range_id: i64) -> Result<()> {
        let row = self.row_key(key, 0);
        let values: leasehold_txn::Parameters<'_> = &[&row.range_hash, &row.id, &range_id];
        match self.database.write(DELETE, self.tables.delete, values).await? {
            0 => Err(lease_lost(range_id, None)),
            _ => Ok(()),
        }
    }
}
