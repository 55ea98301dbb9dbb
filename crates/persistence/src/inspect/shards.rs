//! Shards, their owners and their ranges.

use leasehold_txn::Operation;
use prost::Message as _;

use super::Inspector;
use super::told::of_temporal;
use crate::sql::{Sql, column};
use crate::{Blob, PageSize, Result, ShardId};

const LIST: Operation = Operation::new("state.inspect_shards");
const SHARDS: Sql = Sql::same(include_str!("sql/shards.sql"));

/// Who owns a shard, and how often it changed hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardRange {
    /// The shard.
    pub shard_id: ShardId,
    /// The fence of its owner.
    pub range_id: i64,
    /// The owner, by the name that it gave itself; nothing where what it keeps is not Temporal's.
    pub owner: Option<String>,
    /// How many bytes the owner keeps.
    pub data_bytes: usize,
}

/// The field of Temporal's `ShardInfo` that names the owner.
#[derive(Clone, PartialEq, prost::Message)]
struct ShardInfo {
    #[prost(string, tag = "3")]
    owner: String,
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
                let blob = Blob::of(row)?;
                Ok(ShardRange {
                    shard_id: column(row, "shard_id")?,
                    range_id: column(row, "range_id")?,
                    owner: owner_in(&blob),
                    data_bytes: blob.data().len(),
                })
            })
            .collect()
    }
}

/// A shard that nobody took yet has an owner without a name, and so none.
fn owner_in(blob: &Blob) -> Option<String> {
    let info = ShardInfo::decode(of_temporal(blob)?).ok()?;
    Some(info.owner).filter(|owner| !owner.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ShardInfo` as Temporal's server of version 1.32.1 stored it.
    const OF_TEMPORAL: &[u8] = b"\x08\x01\x10\x01\x1a6127.0.0.1:17003-1-2efb5339-0b1f-4f06-a1f7-52c3a71f9b950\x01:\x0c\x08\xb6\xe6\xe8\xd7\x06\x10\xd3\xc7\xdc\xa0\x02";

    #[test]
    fn owner_is_read_from_what_temporal_keeps() {
        let owner = "127.0.0.1:17003-1-2efb5339-0b1f-4f06-a1f7-52c3a71f9b95";
        assert_eq!(owner_in(&Blob::proto3(OF_TEMPORAL)).as_deref(), Some(owner));
    }

    #[test]
    fn what_is_not_temporals_tells_no_owner() {
        for blob in [
            Blob::proto3(vec![]),
            Blob::proto3(vec![1]),
            Blob::proto3(&b"\x1a\x02\xff\xff"[..]),
            Blob::new(OF_TEMPORAL, "Json").expect("a blob"),
        ] {
            assert_eq!(owner_in(&blob), None, "{blob:?}");
        }
    }
}
