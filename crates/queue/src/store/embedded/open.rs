//! Taking a partition over, and finding what is in it.

use leasehold_core::Timestamp;
use leasehold_embedded::Written;
use redb::{Error, ReadTransaction, ReadableTable, WriteTransaction};

use super::contents::unusable;
use super::queues;
use super::record::{self, Placed};
use super::tables::{EPOCHS, ITEMS, NUMBERS, PARTITIONS, QUEUES, STATES, id_of, range_of};
use crate::store::index::Index;
use crate::store::{LastOwner, PartitionId, Ready, Result};

/// Who owns a partition, and under which number it is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) number: u64,
    pub(super) epoch: u64,
}

impl Claim {
    /// Whether nobody had the partition in between.
    pub(super) fn follows(&self, earlier: &Claim) -> bool {
        self.number == earlier.number && self.epoch == earlier.epoch + 1
    }
}

/// Raises the epoch: from here on no earlier owner writes. A partition that is not there is made. None if its queue was
/// deleted, and perhaps created again.
pub(super) fn claim(
    write: &WriteTransaction,
    partition: &PartitionId,
    created_at: Option<Timestamp>,
) -> Result<Written<Option<Claim>>, Error> {
    if let Some(created_at) = created_at
        && !queues::is_there(&write.open_table(QUEUES)?, &partition.queue, created_at)?
    {
        return Ok(Written::Nothing(None));
    }
    let name = (partition.queue.as_str(), partition.number);
    let mut partitions = write.open_table(PARTITIONS)?;
    let found = partitions.get(name)?.map(|number| number.value());
    let number = match found {
        Some(number) => number,
        None => {
            let mut numbers = write.open_table(NUMBERS)?;
            let last = numbers.get(())?.map_or(0, |last| last.value());
            numbers.insert((), last + 1)?;
            partitions.insert(name, last + 1)?;
            last + 1
        }
    };
    let mut epochs = write.open_table(EPOCHS)?;
    let epoch = epochs.get(number)?.map_or(1, |epoch| epoch.value() + 1);
    epochs.insert(number, epoch)?;
    Ok(Written::Changed(Some(Claim { number, epoch })))
}

/// Numbers are never given twice, and epochs of one number only grow.
pub(super) fn last_owner(
    partitions: &impl ReadableTable<(&'static str, u32), u64>,
    epochs: &impl ReadableTable<u64, u64>,
    partition: &PartitionId,
) -> Result<LastOwner, Error> {
    let Some(number) =
        partitions.get((partition.queue.as_str(), partition.number))?.map(|found| found.value())
    else {
        return Ok(LastOwner(None));
    };
    let epoch = epochs.get(number)?.map_or(0, |epoch| epoch.value());
    Ok(LastOwner(Some(u128::from(number) << 64 | u128::from(epoch))))
}

/// Builds the line from the file, in one pass over both tables. Nobody writes the partition meanwhile: its owner is
/// waiting for this.
pub(super) fn line(read: &ReadTransaction, partition: u64) -> Result<Result<Index<()>>, Error> {
    let mut index = Index::default();
    let mut states = read.open_table(STATES)?.range(range_of(partition))?;
    let mut state = states.next().transpose()?;
    for entry in read.open_table(ITEMS)?.range(range_of(partition))? {
        let (key, item) = entry?;
        let key = key.value();
        let id = id_of(&key);
        let Placed { mut header, source_id, bytes } = match record::placed(item.value()) {
            Ok(placed) => placed,
            Err(reason) => return Ok(Err(unusable(id, reason))),
        };
        if let Some((state_key, found)) = &state
            && state_key.value() <= key
        {
            if state_key.value() < key {
                return Ok(Err(unusable(id_of(&state_key.value()), "it is missing, and has a state")));
            }
            if let Err(reason) = record::apply_state(found.value(), &mut header) {
                return Ok(Err(unusable(id, reason)));
            }
            state = states.next().transpose()?;
        }
        index.restore(Ready { id, bytes }, header, source_id, ());
    }
    match state {
        Some((key, _)) => Ok(Err(unusable(id_of(&key.value()), "it is missing, and has a state"))),
        None => Ok(Ok(index)),
    }
}
