//! Shards and their ranges.

use leasehold_txn::Operation;

use super::Inspector;
use crate::sql::{Sql, column};
use crate::{PageSize, Result, ShardId};

const LIST: Operation = Operation::new("state.inspect_shards");
const SHARDS: Sql = Sql::same(include_str!("sql/shards.sql"));

/// How often a shard changed hands. Who its owner is stands in what the owner keeps, which is the owner's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRange {
    /// The shard.
    pub shard_id: ShardId,
    /// The fence of its owner.
    pub range_id: i64,
    /// How many bytes the owner keeps.
    pub data_bytes: i64,
}

impl Inspector {
    /// The shards behind `after`, by number.
    ///
    /// # Errors
    /// As every read.
    pub async fn shards(&self, after: Option<ShardId>, page_size: PageSize) -> Result<Vec<ShardRange>> {
        let rows = self.database.read(LIST, SHARDS, &[&after, &page_size.limit()]).await?;
        rows.iter()
            .map(|row| {
                Ok(ShardRange {
                    shard_id: column(row, "shard_id")?,
                    range_id: column(row, "range_id")?,
                    data_bytes: column(row, "data_bytes")?,
                })
            })
            .collect()
    }
}
