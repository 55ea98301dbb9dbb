//! Takes a branch out of its tree, with the nodes that no other branch shares.

use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{Operation, Parameters};

use super::{Branch, History};
use crate::sql::Sql;
use crate::{BranchId, Error, Result};

const DELETE_BRANCH: Operation = Operation::new("state.delete_history_branch");
const DELETE: Sql = Sql::same(include_str!("sql/delete_branch.sql"));
const DELETE_NODES: Sql = Sql::same(include_str!("sql/delete_nodes.sql"));
const DELETE_SOME_NODES: Sql = Sql::same(include_str!("sql/delete_some_nodes.sql"));
/// The most ranges of one request. A range is an ancestor that nobody else needs.
const RANGES_MAX: usize = 1000;

/// The nodes of a branch from one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchRange {
    /// The branch that has them.
    pub branch_id: BranchId,
    /// The first of them.
    pub begin_node_id: i64,
}

impl History {
    /// Deletes a branch and the nodes of `ranges`, which may be its own and those of ancestors that nobody else needs. It is
    /// no error if there is nothing.
    ///
    /// Where the database takes only so many rows at once and there are more, nodes go in batches and the branch last, so
    /// that what is left of an interrupted call is still listed and can be deleted again.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when there are too many ranges.
    pub async fn delete_branch(&self, branch: &Branch, ranges: &[BranchRange]) -> Result<()> {
        if ranges.len() > RANGES_MAX {
            let reason = format!("must be at most {RANGES_MAX}, are {}", ranges.len());
            return Err(Error::invalid("ranges", reason));
        }
        match self.delete_at_once(branch, ranges).await {
            Err(Error::TransactionSizeLimit { .. }) if self.database.is_dsql() => {
                self.delete_in_batches(branch, ranges).await
            }
            answer => answer,
        }
    }

    async fn delete_at_once(&self, branch: &Branch, ranges: &[BranchRange]) -> Result<()> {
        let Branch { shard_id, tree_id, branch_id } = branch;
        let branch_values: [&(dyn ToSql + Sync); 3] = [shard_id, tree_id, branch_id];
        let node_values: Vec<[&(dyn ToSql + Sync); 4]> = ranges
            .iter()
            .map(|BranchRange { branch_id, begin_node_id }| -> [&(dyn ToSql + Sync); 4] {
                [shard_id, tree_id, branch_id, begin_node_id]
            })
            .collect();
        let mut statements: Vec<(&str, Parameters<'_>)> = vec![(self.database.words(DELETE), &branch_values)];
        let delete_nodes = self.database.words(DELETE_NODES);
        statements.extend(node_values.iter().map(|values| (delete_nodes, values.as_slice())));
        let statements = &statements;
        self.database
            .run(DELETE_BRANCH, |tx| {
                Box::pin(async move {
                    tx.execute_all(statements).await?;
                    Ok(())
                })
            })
            .await
    }

    async fn delete_in_batches(&self, branch: &Branch, ranges: &[BranchRange]) -> Result<()> {
        let Branch { shard_id, tree_id, branch_id } = branch;
        for range in ranges {
            let values: Parameters<'_> = &[shard_id, tree_id, &range.branch_id, &range.begin_node_id];
            self.database.delete_in_batches(DELETE_BRANCH, DELETE_SOME_NODES, values, u64::MAX).await?;
        }
        self.database.write(DELETE_BRANCH, DELETE, &[shard_id, tree_id, branch_id]).await?;
        Ok(())
    }
}
