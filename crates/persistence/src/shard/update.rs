//! Changes a shard, or takes it over, if it is still at the range that the caller knows.

use leasehold_txn::{Abort, Operation, Transaction};

use super::{SELECT_RANGE, Shard, ShardId, Shards};
use crate::sql::column;
use crate::{Error, FenceMode, Result};

const UPDATE_SHARD: Operation = Operation::new("state.update_shard");
const LOCK: &str = include_str!("sql/fence_update.sql");
const UPDATE: &str = include_str!("sql/update.sql");
const UPDATE_DATA: &str = include_str!("sql/update_data.sql");

impl Shards {
    /// Stores `shard`, if what is stored is at `previous_range_id`. A range of its own, higher than that, takes the shard
    /// over: whatever was begun under the range before commits before this, or never.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`] when the range differs, [`Error::Missing`] when there is no such shard,
    /// [`Error::InvalidRequest`] when the range would go down.
    pub async fn update(&self, shard: &Shard, previous_range_id: i64) -> Result<()> {
        if shard.range_id < previous_range_id {
            let reason = format!("must not go down from {previous_range_id}, is {}", shard.range_id);
            return Err(Error::invalid("range_id", reason));
        }
        // A row that waits for its lock sees the range only once it has it. Where nobody waits, and where a change of data
        // is to pass the writes under way, the lock would only conflict with them; the change itself looks at the range.
        let locks_first = !self.database.is_dsql() && self.database.fence_mode() != FenceMode::KeyShare;
        self.database
            .run_takeover(UPDATE_SHARD, |tx| {
                Box::pin(async move {
                    if locks_first {
                        expect_range(tx, LOCK, shard.shard_id, previous_range_id).await?;
                    }
                    while write(tx, shard, previous_range_id).await? == 0 {
                        // A takeover whose answer was lost may commit between the two. Ranges only grow, so that the next
                        // write finds the row, or the next look another range.
                        expect_range(tx, SELECT_RANGE.dsql, shard.shard_id, previous_range_id).await?;
                    }
                    Ok(())
                })
            })
            .await
    }
}

async fn write(tx: &Transaction<'_>, shard: &Shard, previous: i64) -> Result<u64, Abort<Error>> {
    let (data, encoding) = (shard.blob.data(), shard.blob.encoding());
    let touched = if shard.range_id == previous {
        tx.execute(UPDATE_DATA, &[&shard.shard_id, &previous, &data, &encoding]).await?
    } else {
        tx.execute(UPDATE, &[&shard.shard_id, &previous, &shard.range_id, &data, &encoding]).await?
    };
    Ok(touched)
}

async fn expect_range(
    tx: &Transaction<'_>,
    sql: &str,
    shard_id: ShardId,
    expected: i64,
) -> Result<(), Abort<Error>> {
    let row = tx.query_opt(sql, &[&shard_id]).await?;
    let row = row.ok_or(Abort::Condition(Error::Missing { what: "the shard" }))?;
    let actual: i64 = column(&row, "range_id").map_err(Abort::Condition)?;
    if actual != expected {
        return Err(Abort::Condition(Error::ShardOwnershipLost { shard_id, expected, actual }));
    }
    Ok(())
}
