//! Changes a shard, or raises its range, if it is still at the range that the caller knows.

use leasehold_txn::{Abort, Operation, Transaction};

use super::fence::fence;
use super::{Shard, Shards};
use crate::{Error, FenceMode, Result};

const UPDATE_SHARD: Operation = Operation::new("state.update_shard");
const UPDATE: &str = include_str!("sql/update.sql");
const UPDATE_DATA: &str = include_str!("sql/update_data.sql");

impl Shards {
    /// Stores `shard`, if what is stored is at `previous_range_id`.
    pub(super) async fn update(&self, shard: &Shard, previous_range_id: i64) -> Result<()> {
        let raises_range = shard.range_id != previous_range_id;
        self.database
            .run_patiently(UPDATE_SHARD, |tx| {
                Box::pin(async move {
                    if raises_range {
                        // Every fence conflicts with this lock. An update of `range_id` alone would pass a key-share fence
                        // wherever no unique index makes the range a key.
                        fence(tx, FenceMode::Update, shard.shard_id, previous_range_id).await?;
                    }
                    while write(tx, shard, previous_range_id).await? == 0 {
                        // Says which range is stored.
                        fence(tx, FenceMode::Update, shard.shard_id, previous_range_id).await?;
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
