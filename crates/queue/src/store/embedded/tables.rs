//! What is in the file.

use leasehold_embedded::{Store, Written};
use redb::{Error, Table, TableDefinition, WriteTransaction};

use crate::ItemId;

/// The partition's number, then the item's id: ranges of the table are partitions, in the order of their lines.
pub(super) type ItemKey = [u8; 28];

/// Items as they were placed. Never rewritten: leasing one writes a state instead.
pub(super) const ITEMS: TableDefinition<'_, ItemKey, &[u8]> = TableDefinition::new("queue.items");
/// What has changed about an item since it was placed, if anything has.
pub(super) const STATES: TableDefinition<'_, ItemKey, &[u8]> = TableDefinition::new("queue.states");
/// Queue and number of a partition → the number it has in this file. Never given twice, so that what is left of a
/// dropped partition cannot come back with a queue of its name.
pub(super) const PARTITIONS: TableDefinition<'_, (&str, u32), u64> = TableDefinition::new("queue.partitions");
/// Who owns a partition: raised by each that opens it, and compared by each write.
pub(super) const EPOCHS: TableDefinition<'_, u64, u64> = TableDefinition::new("queue.epochs");
/// Partitions whose items are still to be deleted.
pub(super) const DROPPED: TableDefinition<'_, u64, ()> = TableDefinition::new("queue.dropped");
/// The last number given to a partition, under the empty key.
pub(super) const NUMBERS: TableDefinition<'_, (), u64> = TableDefinition::new("queue.numbers");
/// The records of queues.
pub(super) const QUEUES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("queue.queues");

/// Items or states, within a transaction.
pub(super) type Records<'a> = Table<'a, ItemKey, &'static [u8]>;

/// Makes the tables, so that reading never finds one missing.
pub(super) fn create(store: &Store) -> leasehold_embedded::Result<()> {
    store.write_blocking(|write| open_all(write).map(Written::Changed))
}

fn open_all(write: &WriteTransaction) -> Result<(), Error> {
    write.open_table(ITEMS)?;
    write.open_table(STATES)?;
    write.open_table(PARTITIONS)?;
    write.open_table(EPOCHS)?;
    write.open_table(DROPPED)?;
    write.open_table(NUMBERS)?;
    write.open_table(QUEUES)?;
    Ok(())
}

pub(super) fn key(partition: u64, id: ItemId) -> ItemKey {
    let mut key = [0; 28];
    key[..8].copy_from_slice(&partition.to_be_bytes());
    key[8..].copy_from_slice(id.as_bytes());
    key
}

pub(super) fn id_of(key: &ItemKey) -> ItemId {
    let mut id = [0; 20];
    id.copy_from_slice(&key[8..]);
    ItemId::from_bytes(id)
}

/// All keys of a partition.
pub(super) fn range_of(partition: u64) -> std::ops::RangeInclusive<ItemKey> {
    key(partition, ItemId::MIN)..=key(partition, ItemId::MAX)
}
