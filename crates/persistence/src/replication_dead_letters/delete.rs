//! Lets go of tasks that could not be applied.

use std::ops::Range;

use leasehold_txn::{Operation, Parameters};

use super::ReplicationDeadLetters;
use crate::Result;
use crate::sql::Sql;

const DELETE: Operation = Operation::new("state.delete_replication_dead_letter");
const DELETE_RANGE: Operation = Operation::new("state.delete_replication_dead_letters");
const DELETE_ONE: Sql = Sql::same(include_str!("sql/delete.sql"));
const DELETE_ALL: Sql = Sql::same(include_str!("sql/delete_range.sql"));
const DELETE_SOME: Sql = Sql::same(include_str!("sql/delete_some.sql"));

impl ReplicationDeadLetters {
    /// Deletes a task. It is no error if there is none.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete(&self, task_id: i64) -> Result<()> {
        let values: Parameters<'_> = &[&self.source_cluster, &self.shard_id, &task_id];
        self.database.write(DELETE, DELETE_ONE, values).await?;
        Ok(())
    }

    /// Deletes the tasks with these ids. It is no error if there are none.
    ///
    /// DSQL deletes many in several transactions; a call that fails may have deleted some, the lowest first.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete_range(&self, ids: Range<i64>) -> Result<()> {
        let values: Parameters<'_> = &[&self.source_cluster, &self.shard_id, &ids.start, &ids.end];
        if self.database.is_dsql() {
            self.database.delete_in_batches(DELETE_RANGE, DELETE_SOME, values, u64::MAX).await?;
        } else {
            self.database.write(DELETE_RANGE, DELETE_ALL, values).await?;
        }
        Ok(())
    }
}
