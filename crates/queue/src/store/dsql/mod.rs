//! Queues in Aurora DSQL.
//!
//! The code is that of `postgres`, with other statements. Nothing waits on DSQL: of two transactions that write one row, or
//! read it `FOR UPDATE`, the later commit fails. So every write reads the row of its partition's owner that way first:
//! `docs/adr/0019-a-partition-on-dsql-is-fenced-by-its-owners-row.md` has the proof, `docs/backends/dsql.md` the rest.

mod queues;
mod schema;
mod statements;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_txn::{Policy, Pool};
use tokio::sync::Semaphore;

use super::postgres::partition::PostgresPartition;
use super::postgres::place::Place;
use super::postgres::with_set_up;
use super::{Dropped, LastOwner, PartitionId, PartitionStore, Result, Store, postgres};
use schema::Dsql;

pub use queues::DsqlQueues;

/// How queues are kept in DSQL.
#[derive(Clone, Debug)]
pub struct Config {
    /// Who we are, for whoever looks into `leasehold_partitions`.
    pub owner: String,
    /// How conflicts are tried again. Its deadline is set by the timeouts.
    pub retries: Policy,
    /// How long one operation may take, waiting for a connection and trying again included. Passed in the middle of a
    /// write it is an unknown outcome.
    pub timeout: Duration,
    /// How long opening a partition may take: it counts the items, and the first one waits for indexes to be built.
    pub open_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        let postgres::Config { owner, timeout, open_timeout, .. } = postgres::Config::default();
        Config { owner, retries: Policy::dsql(), timeout, open_timeout }
    }
}

/// Partitions in one DSQL cluster. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct DsqlStore {
    /// For items, and for opening partitions.
    pools: [Pool; 2],
    config: Config,
    dialect: Arc<Dsql>,
    /// Whether the records of the queues are in the same cluster.
    is_beside_records: bool,
}

impl DsqlStore {
    /// Over a pool that may be shared with others, and up to four connections beside it that open partitions. Touches nothing: tables are made when a partition is opened.
    #[must_use]
    pub fn new(pool: Pool, config: Config) -> Self {
        let dialect = Arc::new(Dsql::new(config.retries.clone()));
        DsqlStore { dialect, pools: with_set_up(pool), config, is_beside_records: true }
    }

    /// The records of the queues are somewhere else.
    #[must_use]
    pub fn apart_from_records(self) -> Self {
        DsqlStore { is_beside_records: false, ..self }
    }

    fn place(&self, partition: &PartitionId) -> Place {
        let Config { owner, timeout, open_timeout, .. } = self.config.clone();
        // There is nothing to vacuum.
        let config = postgres::Config { owner, timeout, open_timeout, vacuum_after: 0 };
        Place::new(self.pools.clone(), config, partition.clone(), statements::all(), self.dialect.clone())
    }
}

#[async_trait]
impl Store for DsqlStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        Box::new(PostgresPartition::new(Arc::new(self.place(partition)), Arc::new(Semaphore::new(0))))
    }

    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore> {
        let place = self.place(partition).of(self.is_beside_records.then_some(created_at));
        Box::new(PostgresPartition::new(Arc::new(place), Arc::new(Semaphore::new(0))))
    }

    /// Dropped midway, its owner is fenced, and some of its items may be left; it may be called again.
    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        let place = self.place(partition);
        place.dialect.drop_partition(&place).await
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        self.place(partition).last_owner().await
    }

    /// Dropped midway, its owner is fenced, and some of its items may be left; it may be called again.
    async fn drop_leftover(&self, partition: &PartitionId, last_owner: LastOwner) -> Result<Dropped> {
        let place = self.place(partition);
        place.dialect.drop_leftover(&place, last_owner).await
    }
}
