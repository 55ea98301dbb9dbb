//! Queues in PostgreSQL, on Querator's tables.
//!
//! Every write is one statement and one round trip, and names the epoch of the partition's owner in that statement:
//! `docs/adr/0010-partition-epoch.md` has the proof, `docs/backends/postgres.md` the rest.

mod change;
pub(in crate::store) mod dialect;
mod due;
pub(in crate::store) mod errors;
mod fates;
mod floors;
mod item_row;
mod lease;
mod list;
mod open;
pub(in crate::store) mod operations;
pub(in crate::store) mod partition;
pub(in crate::store) mod place;
mod produce;
pub(in crate::store) mod queues;
pub(in crate::store) mod remove;
mod requeue;
mod schema;
pub(in crate::store) mod script;
pub(in crate::store) mod statements;
mod stats;
mod table;
mod upkeep;
pub(in crate::store) mod values;
mod window;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_txn::Pool;
use tokio::sync::Semaphore;

use super::{Dropped, LastOwner, OPENS_MAX, PartitionId, PartitionStore, Result, Store};
use partition::PostgresPartition;
use place::Place;
use schema::Postgres;
use statements::Statements;
use table::Table;

pub use queues::PostgresQueues;

/// The name of the table that holds a partition's items, for whoever looks into the database. It has letters of both
/// cases, so it must be quoted in statements.
#[must_use]
pub fn items_table(partition: &PartitionId) -> String {
    table::Table::of(partition).items().trim_matches('"').to_owned()
}

/// How queues are kept in PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who we are, for whoever looks into `leasehold_partitions`.
    pub owner: String,
    /// How long one operation may take, waiting for a connection included. Passed in the middle of a write it is an
    /// unknown outcome.
    pub timeout: Duration,
    /// How long opening a partition may take: it counts the items.
    pub open_timeout: Duration,
    /// After how many rows that were changed or deleted the owner has the table vacuumed; zero leaves it to the server.
    pub vacuum_after: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            owner: format!("process {}", std::process::id()),
            timeout: Duration::from_secs(10),
            open_timeout: Duration::from_secs(60),
            vacuum_after: 400_000,
        }
    }
}

/// Partitions in one PostgreSQL database. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    /// For items, and for opening partitions.
    pools: [Pool; 2],
    config: Config,
    /// One table at a time is tidied up: the pool's connections are for the queues.
    upkeep: Arc<Semaphore>,
    /// Whether the records of the queues are in the same database.
    is_beside_records: bool,
}

impl PostgresStore {
    /// Over a pool that may be shared with others, and up to four connections beside it that open partitions. Touches nothing: tables are made when a partition is opened.
    #[must_use]
    pub fn new(pool: Pool, config: Config) -> Self {
        PostgresStore {
            pools: with_set_up(pool),
            config,
            upkeep: Arc::new(Semaphore::new(1)),
            is_beside_records: true,
        }
    }

    /// The records of the queues are somewhere else.
    #[must_use]
    pub fn apart_from_records(self) -> Self {
        PostgresStore { is_beside_records: false, ..self }
    }

    fn place(&self, partition: &PartitionId) -> Place {
        let table = Table::of(partition);
        let statements = Statements::new(&table);
        let dialect = Arc::new(Postgres::new(table));
        Place::new(self.pools.clone(), self.config.clone(), partition.clone(), statements, dialect)
    }
}

/// The pool, and another one for opening partitions: as many connections as partitions are opened at once.
pub(in crate::store) fn with_set_up(pool: Pool) -> [Pool; 2] {
    let set_up = pool.sibling(OPENS_MAX).unwrap_or_else(|error| {
        let error: &dyn std::error::Error = &error;
        tracing::warn!(error, "partitions are opened over the connections of their items");
        pool.clone()
    });
    [pool, set_up]
}

#[async_trait]
impl Store for PostgresStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        Box::new(PostgresPartition::new(Arc::new(self.place(partition)), self.upkeep.clone()))
    }

    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore> {
        let place = self.place(partition).of(self.is_beside_records.then_some(created_at));
        Box::new(PostgresPartition::new(Arc::new(place), self.upkeep.clone()))
    }

    /// Dropped midway, the partition is gone or is not.
    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        let place = self.place(partition);
        place.dialect.drop_partition(&place).await
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        self.place(partition).last_owner().await
    }

    /// Dropped midway, the partition is gone or is not.
    async fn drop_leftover(&self, partition: &PartitionId, last_owner: LastOwner) -> Result<Dropped> {
        let place = self.place(partition);
        place.dialect.drop_leftover(&place, last_owner).await
    }
}
