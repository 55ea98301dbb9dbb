//! Deletes tasks that are done.

use leasehold_txn::{Operation, Parameters};

use super::{SubQueue, TaskLevel, TaskQueueKey, TaskQueues};
use crate::{Error, Result};

const COMPLETE_TASKS: Operation = Operation::new("state.complete_tasks");

impl TaskQueues {
    /// Deletes the lowest tasks of a part of a queue, those below a level and at most `limit`; how many there were. Fewer
    /// than `limit` means that none is left.
    ///
    /// DSQL deletes so many in several transactions; a call that fails may have deleted some.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the limit is 0 or the pass is not one of these queues.
    pub async fn complete_tasks_less_than(
        &self,
        key: &TaskQueueKey,
        sub_queue: SubQueue,
        below: TaskLevel,
        limit: u32,
    ) -> Result<u64> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be at least 1, is 0".to_owned()));
        }
        self.check_pass(below)?;
        let row = self.row_key(key, sub_queue);
        let rows_max = i64::from(limit);
        let all: Parameters<'_> = &[&row.range_hash, &row.id, &below.task_id, &below.pass];
        let values = if self.tables.has_passes { all } else { &all[..3] };
        let delete = self.tables.delete_tasks;
        if self.database.is_dsql() {
            return self.database.delete_in_batches(COMPLETE_TASKS, delete, values, limit.into()).await;
        }
        let values = [values, &[&rows_max]].concat();
        self.database.write(COMPLETE_TASKS, delete, &values).await
    }
}
