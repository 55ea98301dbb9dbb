//! Takes one node out of a branch.

use leasehold_txn::Operation;

use super::{Branch, History, node};
use crate::Result;
use crate::sql::Sql;

const DELETE_NODE: Operation = Operation::new("state.delete_history_node");
const DELETE: Sql = Sql::same(include_str!("sql/delete_node.sql"));

impl History {
    /// Deletes what a transaction wrote as a node. It is no error if there is nothing.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete_node(&self, branch: &Branch, node_id: i64, txn_id: i64) -> Result<()> {
        let Branch { shard_id, tree_id, branch_id } = branch;
        let stored_txn_id = node::stored(txn_id);
        let values: leasehold_txn::Parameters<'_> = &[shard_id, tree_id, branch_id, &node_id, &stored_txn_id];
        self.database.write(DELETE_NODE, DELETE, values).await?;
        Ok(())
    }
}
