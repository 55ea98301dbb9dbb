//! The first statement of every write under a shard: the range, read so that it cannot change before the write commits.

use leasehold_txn::{Abort, Transaction};

#[cfg(feature = "unfenced")]
use super::SELECT_RANGE;
use super::ShardId;
use crate::sql::column;
use crate::{Error, FenceMode};

const FENCE_SHARE: &str = include_str!("sql/fence_share.sql");
const FENCE_KEY_SHARE: &str = include_str!("sql/fence_key_share.sql");
const FENCE_UPDATE: &str = include_str!("sql/fence_update.sql");

/// Ends the transaction unless the shard is at `range_id`, and keeps it there until the transaction ends. Where nothing
/// waits, a change of the range lets this transaction or the change fail at COMMIT.
pub(crate) async fn fence(
    tx: &Transaction<'_>,
    mode: FenceMode,
    shard_id: ShardId,
    range_id: i64,
) -> Result<(), Abort<Error>> {
    let sql = match mode {
        FenceMode::Share => FENCE_SHARE,
        FenceMode::KeyShare => FENCE_KEY_SHARE,
        FenceMode::Update => FENCE_UPDATE,
        #[cfg(feature = "unfenced")]
        FenceMode::Unfenced => SELECT_RANGE.postgres,
    };
    let row = tx.query_opt(sql, &[&shard_id]).await?;
    let row = row.ok_or(Abort::Condition(Error::Missing { what: "the shard" }))?;
    let actual: i64 = column(&row, "range_id").map_err(Abort::Condition)?;
    if actual != range_id {
        return Err(Abort::Condition(Error::ShardOwnershipLost { shard_id, expected: range_id, actual }));
    }
    Ok(())
}
