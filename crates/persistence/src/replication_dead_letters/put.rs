//! Keeps a task that could not be applied.

use leasehold_txn::Operation;

use super::ReplicationDeadLetters;
use crate::sql::Sql;
use crate::{Blob, Result};

const PUT: Operation = Operation::new("state.put_replication_dead_letter");
const INSERT: Sql = Sql::same(include_str!("sql/insert.sql"));

impl ReplicationDeadLetters {
    /// Keeps a task. One that is there already stays as it is.
    ///
    /// # Errors
    /// As every write.
    pub async fn put(&self, task_id: i64, blob: &Blob) -> Result<()> {
        let values: leasehold_txn::Parameters<'_> =
            &[&self.source_cluster, &self.shard_id, &task_id, &blob.data(), &blob.encoding()];
        self.database.write(PUT, INSERT, values).await?;
        Ok(())
    }
}
