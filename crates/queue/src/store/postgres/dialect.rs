//! Where PostgreSQL and DSQL differ in more than the words of a statement.

use std::fmt::Debug;

use async_trait::async_trait;
use leasehold_txn::Policy;

use super::place::Place;
use crate::store::{Dropped, LastOwner, PartitionId, Result, WriteMax};

#[async_trait]
pub(in crate::store) trait Dialect: Debug + Send + Sync + 'static {
    /// How a transaction that lost to another is tried again.
    fn retries(&self) -> Policy;

    /// Whether all partitions are in the same tables: reads then begin with the queue and the number of theirs.
    fn shares_tables(&self) -> bool;

    fn write_max(&self, partition: &PartitionId) -> WriteMax;

    /// Makes sure that the tables are there. A failure is not remembered: the next call tries again.
    async fn ensure(&self, place: &Place) -> Result<()>;

    /// A table was not there: what was seen of them does not count any more.
    fn forget(&self);

    /// Drops the items of a partition, and fences its owner.
    async fn drop_partition(&self, place: &Place) -> Result<Dropped>;

    /// The same unless somebody has taken it over since.
    async fn drop_leftover(&self, place: &Place, last_owner: LastOwner) -> Result<Dropped>;
}
