//! Lets a branch begin inside another.

use leasehold_txn::Operation;

use super::{Branch, History, UPSERT_BRANCH};
use crate::{Blob, Result};

const FORK: Operation = Operation::new("state.fork_history");

impl History {
    /// Makes a branch known to its tree; `info` says where it forks off. Repeating it changes nothing.
    ///
    /// # Errors
    /// As every write.
    pub async fn fork(&self, branch: &Branch, info: &Blob) -> Result<()> {
        let Branch { shard_id, tree_id, branch_id } = branch;
        let values: leasehold_txn::Parameters<'_> =
            &[shard_id, tree_id, branch_id, &info.data(), &info.encoding()];
        self.database.write(FORK, UPSERT_BRANCH, values).await?;
        Ok(())
    }
}
