//! Dropping a partition: at once by name, its items in steps that keep others waiting for a moment only.

use leasehold_embedded::Written;
use redb::{Error, ReadTransaction, ReadableTable, WriteTransaction};

use super::tables::{DROPPED, EPOCHS, ITEMS, PARTITIONS, Records, STATES, range_of};
use crate::QueueName;
use crate::store::PartitionId;

/// Records deleted in one step.
const STEP_LEN: usize = 4_096;

/// Forgets the name and fences the owner. What is left is marked, so that a crash cannot leave it for ever.
pub(super) fn forget(write: &WriteTransaction, partition: &PartitionId) -> Result<Written<()>, Error> {
    let name = (partition.queue.as_str(), partition.number);
    let Some(number) = write.open_table(PARTITIONS)?.remove(name)?.map(|number| number.value()) else {
        return Ok(Written::Nothing(()));
    };
    write.open_table(EPOCHS)?.remove(number)?;
    write.open_table(DROPPED)?.insert(number, ())?;
    Ok(Written::Changed(()))
}

/// Forgets all partitions of a queue.
pub(super) fn forget_all(write: &WriteTransaction, queue: &QueueName) -> Result<(), Error> {
    let mut numbers = Vec::new();
    let all = (queue.as_str(), u32::MIN)..=(queue.as_str(), u32::MAX);
    for entry in write.open_table(PARTITIONS)?.range(all)? {
        numbers.push(entry?.0.value().1);
    }
    for number in numbers {
        forget(write, &PartitionId { queue: queue.clone(), number })?;
    }
    Ok(())
}

/// Deletes some of what dropped partitions have left; whether there may be more.
pub(super) fn step(write: &WriteTransaction) -> Result<Written<bool>, Error> {
    let mut dropped = write.open_table(DROPPED)?;
    let Some(number) = dropped.first()?.map(|(number, _)| number.value()) else {
        return Ok(Written::Nothing(false));
    };
    let left = STEP_LEN - delete_some(&mut write.open_table(STATES)?, number, STEP_LEN)?;
    let left = left - delete_some(&mut write.open_table(ITEMS)?, number, left)?;
    if left > 0 {
        dropped.remove(number)?;
    }
    Ok(Written::Changed(true))
}

/// Whether a crash has left something to sweep.
pub(super) fn is_needed(read: &ReadTransaction) -> Result<bool, Error> {
    Ok(read.open_table(DROPPED)?.first()?.is_some())
}

fn delete_some(records: &mut Records<'_>, partition: u64, len_max: usize) -> Result<usize, Error> {
    let mut extracted = records.extract_from_if(range_of(partition), |_, _| true)?;
    let mut deleted = 0;
    while deleted < len_max
        && let Some(entry) = extracted.next()
    {
        entry?;
        deleted += 1;
    }
    extracted.close()?;
    Ok(deleted)
}
