//! How an owner comes to a shard, and keeps it.

use super::{Shard, ShardId, Shards};
use crate::{Blob, Error, Result};

/// A shard that was taken over. Only a take-over whose success is certain makes one, so no two leases of a shard have the
/// same range.
///
/// A take-over whose outcome is unknown gives no lease, whatever range is stored afterwards: another owner may have stored the
/// same range and the same content. Read the shard and take it over again, which goes one range higher.
#[derive(Debug)]
pub struct ShardLease {
    shards: Shards,
    shard_id: ShardId,
    range_id: i64,
}

impl Shards {
    /// Takes over the shard that was read as `found`, at the next range, and stores `blob` in it. Of several callers who found
    /// the same range one succeeds. Writes under the ranges before either commit before this returns, or never commit.
    ///
    /// Dropping the call may leave the shard taken over, without an owner.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`] when the range differs, [`Error::Missing`] when there is no such shard. After
    /// [`Error::UnknownOutcome`] the shard is not the caller's: read it and take it over again.
    pub async fn take_over(&self, found: &Shard, blob: Blob) -> Result<ShardLease> {
        let (shard_id, range_id) = (found.shard_id, next_range(found.range_id)?);
        self.update(&Shard { shard_id, range_id, blob }, found.range_id).await?;
        Ok(ShardLease { shards: self.clone(), shard_id, range_id })
    }
}

impl ShardLease {
    /// The shard.
    #[must_use]
    pub fn shard_id(&self) -> ShardId {
        self.shard_id
    }

    /// The range under which it is held, which every write of its owner carries.
    #[must_use]
    pub fn range_id(&self) -> i64 {
        self.range_id
    }

    /// Goes on to the next range: a write of this owner whose outcome is unknown is then visible or can never commit.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`] when the shard is another's. After [`Error::UnknownOutcome`] the lease may have ended:
    /// drop it, read the shard and take it over again.
    pub async fn renew(&mut self, blob: Blob) -> Result<()> {
        let range_id = next_range(self.range_id)?;
        self.shards.update(&Shard { shard_id: self.shard_id, range_id, blob }, self.range_id).await?;
        self.range_id = range_id;
        Ok(())
    }

    /// Stores what the owner keeps in the shard, at the same range.
    ///
    /// # Errors
    /// [`Error::ShardOwnershipLost`] when the shard is another's.
    pub async fn sync_state(&self, blob: Blob) -> Result<()> {
        let shard = Shard { shard_id: self.shard_id, range_id: self.range_id, blob };
        self.shards.update(&shard, self.range_id).await
    }
}

pub(crate) fn next_range(range_id: i64) -> Result<i64> {
    range_id.checked_add(1).ok_or_else(|| Error::Corrupt {
        what: "range_id".to_owned(),
        reason: "there is no range above it".to_owned(),
    })
}
