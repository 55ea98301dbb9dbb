//! Asks whether there is anything to look at.

use leasehold_txn::Operation;

use super::ReplicationDeadLetters;
use crate::Result;
use crate::sql::Sql;

const IS_EMPTY: Operation = Operation::new("state.has_replication_dead_letters");
const SELECT_ANY: Sql = Sql::same(include_str!("sql/select_any.sql"));

impl ReplicationDeadLetters {
    /// Whether there is no task from this id on.
    ///
    /// # Errors
    /// As every read.
    pub async fn is_empty(&self, from_task_id: i64) -> Result<bool> {
        let values: leasehold_txn::Parameters<'_> = &[&self.source_cluster, &self.shard_id, &from_task_id];
        Ok(self.database.read(IS_EMPTY, SELECT_ANY, values).await?.is_empty())
    }
}
