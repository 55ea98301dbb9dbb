//! Asks whether a shard is still the caller's, without holding anybody to it.

use leasehold_txn::Operation;

use super::{SELECT_RANGE, ShardId, Shards};
use crate::sql::column;
use crate::{Error, Result};

const ASSERT_OWNERSHIP: Operation = Operation::new("state.assert_shard_ownership");

impl Shards {
    /// Whether the shard is at `range_id` now. Advice, not a fence: by the time of the answer it may have changed.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`] when it is not, [`Error::Missing`] when there is no such shard.
    pub async fn assert_ownership(&self, shard_id: ShardId, range_id: i64) -> Result<()> {
        let rows = self.database.read(ASSERT_OWNERSHIP, SELECT_RANGE, &[&shard_id]).await?;
        let row = rows.first().ok_or(Error::Missing { what: "the shard" })?;
        match column(row, "range_id")? {
            actual if actual == range_id => Ok(()),
            actual => Err(Error::ShardOwnershipLost { shard_id, expected: range_id, actual }),
        }
    }
}
