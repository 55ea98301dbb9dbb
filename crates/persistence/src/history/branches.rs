//! Lists the branches of a tree, and of all trees.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::{Branch, History};
use crate::sql::{Sql, column};
use crate::{Blob, BranchId, Page, PageSize, PageToken, Result, ShardId, TreeId};

const GET_TREE: Operation = Operation::new("state.get_history_tree");
const LIST_BRANCHES: Operation = Operation::new("state.list_history_branches");
const SELECT_TREE: Sql = Sql::same(include_str!("sql/select_tree.sql"));
const SELECT_BRANCHES: Sql = Sql::same(include_str!("sql/select_branches.sql"));

/// A branch as its tree keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeBranch {
    /// The branch.
    pub branch: Branch,
    /// What was said of it when it was made.
    pub info: Blob,
}

impl History {
    /// The branches of a tree; none when there is no such tree.
    ///
    /// # Errors
    /// As every read.
    pub async fn tree(&self, shard_id: ShardId, tree_id: TreeId) -> Result<Vec<TreeBranch>> {
        let rows = self.database.read(GET_TREE, SELECT_TREE, &[&shard_id, &tree_id]).await?;
        rows.iter().map(TreeBranch::of).collect()
    }

    /// The branches of all trees, by shard, tree and branch, from `after` on.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list_branches(
        &self,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<TreeBranch>> {
        let Branch { shard_id, tree_id, branch_id } = after.map_or(Ok(BEFORE_ALL), last_of)?;
        let values: leasehold_txn::Parameters<'_> = &[&shard_id, &tree_id, &branch_id, &page_size.limit()];
        let rows = self.database.read(LIST_BRANCHES, SELECT_BRANCHES, values).await?;
        let branches = rows.iter().map(TreeBranch::of).collect::<Result<_>>()?;
        Ok(Page::new(branches, page_size, |last: &TreeBranch| Some(token_after(&last.branch))))
    }
}

impl TreeBranch {
    fn of(row: &Row) -> Result<Self> {
        let branch = Branch {
            shard_id: column(row, "shard_id")?,
            tree_id: column(row, "tree_id")?,
            branch_id: column(row, "branch_id")?,
        };
        Ok(Self { branch, info: Blob::of(row)? })
    }
}

/// Shards are counted from 1.
const BEFORE_ALL: Branch = Branch {
    shard_id: ShardId::MIN,
    tree_id: TreeId::from_bytes([0; 16]),
    branch_id: BranchId::from_bytes([0; 16]),
};

fn token_after(branch: &Branch) -> PageToken {
    let Branch { shard_id, tree_id, branch_id } = branch;
    PageToken::from_bytes([&shard_id.to_le_bytes()[..], tree_id.as_bytes(), branch_id.as_bytes()].concat())
}

fn last_of(token: &PageToken) -> Result<Branch> {
    let read = |bytes: &[u8]| -> Option<Branch> {
        let (shard_id, rest) = bytes.split_first_chunk::<4>()?;
        let (tree_id, branch_id) = rest.split_first_chunk::<16>()?;
        Some(Branch {
            shard_id: ShardId::from_le_bytes(*shard_id),
            tree_id: TreeId::from_bytes(*tree_id),
            branch_id: BranchId::from_bytes(branch_id.try_into().ok()?),
        })
    };
    read(token.as_bytes()).ok_or_else(PageToken::malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_reads_back_and_nothing_else_is_taken() {
        let branch = Branch {
            shard_id: 7,
            tree_id: TreeId::from_bytes([1; 16]),
            branch_id: BranchId::from_bytes([2; 16]),
        };
        assert_eq!(last_of(&token_after(&branch)).expect("a branch"), branch);
        for len in [0, 3, 20, 35, 37] {
            assert!(last_of(&PageToken::from_bytes(vec![0; len])).is_err(), "{len}");
        }
    }
}
