//! Items and queues in the embedded store: durable, in a folder that this process owns.
//!
//! Contents are on the disk; the line of an open partition is in memory, and is built from the file when it is
//! opened. A write is decided on the line, then made durable by the store's one writer together with what others
//! write, then answered. If it cannot be, the line is thrown away with it, and the partition must be opened again.

mod batch;
mod contents;
mod fields;
mod open;
mod partition;
mod queue_record;
mod queues;
mod record;
mod runs;
mod sweep;
mod tables;

use std::time::{Duration, Instant};

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_embedded::Written;

use super::{Dropped, LastOwner, PartitionId, PartitionStore, Result, Store, StoreError};
use partition::EmbeddedPartition;
use tables::{EPOCHS, PARTITIONS};

pub use queues::EmbeddedQueues;

/// How long one call sweeps; the next goes on.
const SWEEP_TIME: Duration = Duration::from_millis(500);

/// Partitions in a folder. Clones are handles on the same ones.
#[derive(Clone, Debug)]
pub struct EmbeddedStore {
    store: leasehold_embedded::Store,
    /// Whether the records of the queues are in the same folder.
    is_beside_records: bool,
}

impl EmbeddedStore {
    /// Over an open store, which it may share with others. Blocks on the disk if the tables are new.
    ///
    /// # Errors
    /// What the store said.
    pub fn open(store: leasehold_embedded::Store) -> Result<Self> {
        tables::create(&store).map_err(|error| unwritten("open", error))?;
        Ok(EmbeddedStore { store, is_beside_records: true })
    }

    /// The records of the queues are somewhere else.
    #[must_use]
    pub fn apart_from_records(self) -> Self {
        EmbeddedStore { is_beside_records: false, ..self }
    }

    /// Deletes what dropped partitions have left, as far as there is time.
    async fn sweep(&self) -> Result<Dropped> {
        let started = Instant::now();
        while started.elapsed() < SWEEP_TIME {
            let is_more = self.store.write(sweep::step).await;
            if !is_more.map_err(|error| unwritten("drop_partition", error))? {
                return Ok(Dropped::Whole);
            }
        }
        Ok(Dropped::InPart)
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    fn partition(&self, partition: &PartitionId) -> Box<dyn PartitionStore> {
        Box::new(EmbeddedPartition::new(self.store.clone(), partition.clone(), None))
    }

    fn partition_of(&self, partition: &PartitionId, created_at: Timestamp) -> Box<dyn PartitionStore> {
        let created_at = self.is_beside_records.then_some(created_at);
        Box::new(EmbeddedPartition::new(self.store.clone(), partition.clone(), created_at))
    }

    /// Dropped midway, the rest goes when the next partition is opened or dropped.
    async fn drop_partition(&self, partition: &PartitionId) -> Result<Dropped> {
        let partition = partition.clone();
        let forgotten = self.store.write(move |write| sweep::forget(write, &partition)).await;
        forgotten.map_err(|error| unwritten("drop_partition", error))?;
        self.sweep().await
    }

    async fn last_owner(&self, partition: &PartitionId) -> Result<LastOwner> {
        let partition = partition.clone();
        read(&self.store, "last_owner", move |read| {
            open::last_owner(&read.open_table(PARTITIONS)?, &read.open_table(EPOCHS)?, &partition)
        })
        .await
    }

    /// Dropped midway, the rest goes when the next partition is opened or dropped.
    async fn drop_leftover(&self, partition: &PartitionId, expected: LastOwner) -> Result<Dropped> {
        let partition = partition.clone();
        let forget = move |write: &redb::WriteTransaction| {
            let last =
                open::last_owner(&write.open_table(PARTITIONS)?, &write.open_table(EPOCHS)?, &partition)?;
            match last == expected {
                false => Ok(Written::Nothing(false)),
                true => sweep::forget(write, &partition).map(|_| Written::Changed(true)),
            }
        };
        let forgotten = self.store.write(forget).await;
        match forgotten.map_err(|error| unwritten("drop_partition", error))? {
            true => self.sweep().await,
            false => Ok(Dropped::Taken),
        }
    }
}

/// Reads what is committed.
async fn read<T: Send + 'static>(
    store: &leasehold_embedded::Store,
    operation: &'static str,
    read: impl FnOnce(&redb::ReadTransaction) -> Result<T, redb::Error> + Send + 'static,
) -> Result<T> {
    let store = store.clone();
    blocking(operation, move || store.read(read)).await
}

/// Reads on a thread that may block.
async fn blocking<T: Send + 'static, E: Into<Box<dyn std::error::Error + Send + Sync>> + Send + 'static>(
    operation: &'static str,
    read: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(read).await;
    done.map_err(|lost| unread(operation, lost.into()))?.map_err(|error| unread(operation, error.into()))
}

fn unread(operation: &'static str, source: Box<dyn std::error::Error + Send + Sync>) -> StoreError {
    StoreError::Unavailable { operation, source }
}

fn unwritten(operation: &'static str, error: leasehold_embedded::Error) -> StoreError {
    match error {
        leasehold_embedded::Error::Indeterminate(_) => {
            StoreError::Indeterminate { operation, source: error.into() }
        }
        nothing => StoreError::Unavailable { operation, source: nothing.into() },
    }
}
