//! Finds a shard, or makes it.

use leasehold_txn::Operation;

use super::{SELECT, Shard, ShardId, Shards};
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const GET: Operation = Operation::new("state.get_shard");
const CREATE: Operation = Operation::new("state.create_shard");
const INSERT: Sql = Sql::same(include_str!("sql/insert.sql"));

impl Shards {
    /// The shard.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nobody made it yet.
    pub async fn get(&self, shard_id: ShardId) -> Result<Shard> {
        let rows = self.database.read(GET, SELECT, &[&shard_id]).await?;
        let row = rows.first().ok_or(Error::NotFound { what: "shard" })?;
        Ok(Shard { shard_id, range_id: column(row, "range_id")?, blob: Blob::of(row)? })
    }

    /// The shard; where there is none, `make` says with which range and content it begins. Of several who make it at once
    /// one does, and all get that one's.
    ///
    /// # Errors
    /// As every write.
    pub async fn get_or_create(
        &self,
        shard_id: ShardId,
        make: impl FnOnce() -> (i64, Blob),
    ) -> Result<Shard> {
        match self.get(shard_id).await {
            Err(Error::NotFound { .. }) => {}
            found => return found,
        }
        let (range_id, blob) = make();
        let values: leasehold_txn::Parameters<'_> = &[&shard_id, &range_id, &blob.data(), &blob.encoding()];
        match self.database.write(CREATE, INSERT, values).await {
            Ok(_) => Ok(Shard { shard_id, range_id, blob }),
            Err(error) if error.is_duplicate() => self.get(shard_id).await,
            Err(error) => Err(error),
        }
    }
}
