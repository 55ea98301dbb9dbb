//! History: the events of executions as nodes of branches, and the trees that branches form.
//!
//! Nothing here is fenced. A node may be appended by a writer whose execution is then not written; it stays behind. What
//! counts is decided by readers: [`Chain`] picks the nodes that are the history.

mod append;
mod branches;
mod chain;
mod delete_branch;
mod delete_node;
mod fork;
mod node;
mod read_branch;

pub use append::AppendNode;
pub use branches::TreeBranch;
pub use chain::Chain;
pub use delete_branch::BranchRange;
pub use node::{HistoryNode, NodeInfo};
pub use read_branch::{Order, ReadBranch};

use crate::sql::Sql;
use crate::{BranchId, Database, ShardId, TreeId};

const UPSERT_NODE: Sql = Sql::same(include_str!("sql/upsert_node.sql"));
const UPSERT_BRANCH: Sql = Sql::same(include_str!("sql/upsert_branch.sql"));

/// A branch of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Branch {
    /// The shard of the execution.
    pub shard_id: ShardId,
    /// The tree.
    pub tree_id: TreeId,
    /// The branch in it.
    pub branch_id: BranchId,
}

/// The histories of a database.
#[derive(Clone, Debug)]
pub struct History {
    database: Database,
}

impl History {
    /// The histories of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}
