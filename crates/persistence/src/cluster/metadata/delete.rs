//! Forgets a cluster.

use leasehold_txn::Operation;

use super::ClusterMetadatas;
use crate::Result;
use crate::sql::Sql;

const DELETE_METADATA: Operation = Operation::new("state.delete_cluster_metadata");
const DELETE: Sql = Sql::same(include_str!("sql/delete.sql"));

impl ClusterMetadatas {
    /// Forgets what is known of a cluster, if anything is.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.database.write(DELETE_METADATA, DELETE, &[&name]).await.map(drop)
    }
}
