//! Adds tasks to a shard without touching an execution.

use futures_util::future::join;
use leasehold_txn::{Abort, Operation};

use super::Executions;
use crate::batch::execute_together;
use crate::history_task::insertions;
use crate::shard::ShardId;
use crate::shard::fence::fence;
use crate::{HistoryTask, Result};

const ADD_HISTORY_TASKS: Operation = Operation::new("state.add_history_tasks");

impl Executions {
    /// Adds tasks, all or none. The range of the shard is all that fences them.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`](crate::Error::ShardOwnershipLost) when the shard is at another range;
    /// [`Error::Refused`](crate::Error::Refused) when a task is there already.
    pub async fn add_history_tasks(
        &self,
        shard_id: ShardId,
        range_id: i64,
        tasks: &[HistoryTask],
    ) -> Result<()> {
        let mode = self.database.fence_mode();
        let steps = &insertions(shard_id, tasks);
        self.database
            .run(ADD_HISTORY_TASKS, |tx| {
                Box::pin(async move {
                    // Both are of one transaction: what the fence refuses is rolled back with it.
                    let (fenced, missed) =
                        join(fence(tx, mode, shard_id, range_id), execute_together(tx, steps)).await;
                    fenced?;
                    match missed? {
                        None => Ok(()),
                        Some(missed) => Err(Abort::Condition(missed.error())),
                    }
                })
            })
            .await
    }
}
