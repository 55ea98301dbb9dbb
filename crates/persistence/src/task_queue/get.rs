//! Finds a task queue.

use leasehold_txn::Operation;

use super::{TaskQueue, TaskQueueKey, TaskQueues};
use crate::sql::column;
use crate::{Blob, Error, Result};

const GET: Operation = Operation::new("state.get_task_queue");

impl TaskQueues {
    /// The queue.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nobody made it yet.
    pub async fn get(&self, key: &TaskQueueKey) -> Result<TaskQueue> {
        let row = self.row_key(key, 0);
        let rows = self.database.read(GET, self.tables.select, &[&row.range_hash, &row.id]).await?;
        let row = rows.first().ok_or(Error::NotFound { what: "task queue" })?;
        Ok(TaskQueue { range_id: column(row, "range_id")?, blob: Blob::of(row)? })
    }
}
