//! Makes a task queue.

use leasehold_txn::Operation;

use super::{TaskQueue, TaskQueueKey, TaskQueues, lease_lost};
use crate::Result;

const CREATE: Operation = Operation::new("state.create_task_queue");

impl TaskQueues {
    /// Makes a queue that its maker owns.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`](crate::Error::ConditionFailed) when it is there already.
    pub async fn create(&self, key: &TaskQueueKey, queue: &TaskQueue) -> Result<()> {
        let row = self.row_key(key, 0);
        let values: leasehold_txn::Parameters<'_> =
            &[&row.range_hash, &row.id, &queue.range_id, &queue.blob.data(), &queue.blob.encoding()];
        match self.database.write(CREATE, self.tables.insert, values).await {
            Err(error) if error.is_duplicate() => Err(lease_lost(0, None)),
            answer => answer.map(drop),
        }
    }
}
