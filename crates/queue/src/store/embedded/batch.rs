//! What an owner has decided, written in one job.

use std::ops::{Bound, Range};

use leasehold_embedded::Written;
use redb::{CursorError, Error, ReadableTable, WriteTransaction};

use super::contents::{Contents, unusable};
use super::record;
use super::runs::{Run, runs};
use super::tables::{EPOCHS, ITEMS, ItemKey, Records, STATES, id_of, key};
use crate::store::StoreError;
use crate::store::index::Header;
use crate::{Item, ItemId};

/// The writes of one call. States come before moves, and moves before deletions: no item is in two of them in
/// another order, because what has moved is ready, and what is gone is gone.
#[derive(Debug)]
pub(super) struct Batch {
    partition: u64,
    epoch: u64,
    /// Records of new items, in ascending order.
    placed: Vec<(ItemKey, Range<usize>)>,
    records: Vec<u8>,
    states: Vec<(ItemKey, Vec<u8>)>,
    moves: Vec<(ItemKey, ItemKey, Option<Header>)>,
    deleted: Vec<ItemKey>,
}

/// Why a batch was not written, decided by the job itself.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another owner has taken over.
    Fenced,
    /// The file holds what it cannot hold.
    Unusable(StoreError),
}

impl Batch {
    pub(super) fn new(partition: u64, epoch: u64) -> Self {
        Batch {
            partition,
            epoch,
            placed: Vec::new(),
            records: Vec::new(),
            states: Vec::new(),
            moves: Vec::new(),
            deleted: Vec::new(),
        }
    }

    pub(super) fn place(&mut self, item: &Item) {
        let start = self.records.len();
        record::put_item(&mut self.records, item);
        self.placed.push((key(self.partition, item.id), start..self.records.len()));
    }

    /// A ready item became a leased one; its expire deadline is still the one in its record.
    pub(super) fn lease(&mut self, id: ItemId, header: &Header) {
        self.states.push((key(self.partition, id), record::state(header, false)));
    }

    pub(super) fn change(&mut self, id: ItemId, header: &Header) {
        self.states.push((key(self.partition, id), record::state(header, true)));
    }

    /// With the header the item has in its new place; none if it has moved on.
    pub(super) fn move_to(&mut self, id: ItemId, new_id: ItemId, header: Option<Header>) {
        self.moves.push((key(self.partition, id), key(self.partition, new_id), header));
    }

    pub(super) fn delete(&mut self, ids: &[ItemId]) {
        self.deleted.extend(ids.iter().map(|id| key(self.partition, *id)));
    }

    /// Brings the writes into the order of the tables.
    pub(super) fn sorted(mut self) -> Self {
        self.placed.sort_unstable_by_key(|(key, _)| *key);
        // Stable: of two states of one item the later one stays.
        self.states.sort_by_key(|(key, _)| *key);
        self.deleted.sort_unstable();
        self.deleted.dedup();
        self
    }

    fn is_empty(&self) -> bool {
        self.placed.is_empty() && self.states.is_empty() && self.moves.is_empty() && self.deleted.is_empty()
    }

    /// Writes everything, if the owner still is one.
    pub(super) fn write(&self, write: &WriteTransaction) -> Result<Written<Result<(), Refused>>, Error> {
        self.write_and(write, |_| Ok(()))
    }

    /// As [`write`](Self::write), and reads the leased items in the same step.
    pub(super) fn write_and_read(
        &self,
        write: &WriteTransaction,
        leased: &[(ItemId, Header)],
    ) -> Result<Written<Result<Contents, Refused>>, Error> {
        let ids = leased.iter().map(|(id, _)| *id);
        self.write_and(write, |items| Contents::read(items, self.partition, ids))
    }

    fn write_and<T>(
        &self,
        write: &WriteTransaction,
        read: impl FnOnce(&Records<'_>) -> Result<T, Error>,
    ) -> Result<Written<Result<T, Refused>>, Error> {
        let owner = write.open_table(EPOCHS)?.get(self.partition)?.map(|epoch| epoch.value());
        if owner != Some(self.epoch) {
            return Ok(Written::Nothing(Err(Refused::Fenced)));
        }
        let mut items = write.open_table(ITEMS)?;
        if self.is_empty() {
            return Ok(Written::Nothing(Ok(read(&items)?)));
        }
        insert(&mut items, self.placed.iter().map(|(key, at)| (key, &self.records[at.clone()])))?;
        let mut states = write.open_table(STATES)?;
        insert(&mut states, self.states.iter().map(|(key, state)| (key, state.as_slice())))?;
        for (from, to, header) in &self.moves {
            if let Err(unusable) = relocate(&mut items, from, to, header.as_ref())? {
                return Ok(Written::Undo(Err(Refused::Unusable(unusable))));
            }
            states.remove(from)?;
        }
        remove(&mut items, &self.deleted)?;
        remove(&mut states, &self.deleted)?;
        Ok(Written::Changed(Ok(read(&items)?)))
    }
}

/// Inserts in ascending order. Runs without old entries between them, which is what new items and leases are, go in
/// through a cursor at a fraction of the cost.
fn insert<'a>(
    table: &mut Records<'_>,
    entries: impl Iterator<Item = (&'a ItemKey, &'a [u8])>,
) -> Result<(), Error> {
    let mut entries = entries.peekable();
    while let Some((first, _)) = entries.peek() {
        let mut cursor = table.lower_bound_mut(Bound::Included(*first))?;
        let mut unordered = None;
        for (key, value) in entries.by_ref() {
            match cursor.insert_before(key, value) {
                Ok(()) => (),
                Err(CursorError::UnorderedKey) => {
                    unordered = Some((key, value));
                    break;
                }
                Err(failed) => return Err(failed.into()),
            }
        }
        cursor.close()?;
        if let Some((key, value)) = unordered {
            // An entry that is there already, or one behind such.
            table.insert(key, value)?;
        }
    }
    Ok(())
}

/// Removes those that are there; neighbours in one pass, at a fraction of the cost.
fn remove(table: &mut Records<'_>, keys: &[ItemKey]) -> Result<(), Error> {
    for run in runs(keys) {
        match run {
            Run::Scattered(keys) => {
                for key in keys {
                    table.remove(key)?;
                }
            }
            Run::Dense(keys) => {
                let range = keys[0]..=keys[keys.len() - 1];
                table.retain_in(range, |key, _| keys.binary_search(&key).is_err())?;
            }
        }
    }
    Ok(())
}

/// Gives an item its new place, with the header it has there.
fn relocate(
    items: &mut Records<'_>,
    from: &ItemKey,
    to: &ItemKey,
    header: Option<&Header>,
) -> Result<Result<(), StoreError>, Error> {
    let moved = match items.remove(from)? {
        None => Err("it is missing"),
        Some(record) => match header {
            Some(header) => record::with_header(record.value(), header),
            None => Ok(record.value().to_vec()),
        },
    };
    match moved {
        Ok(record) => {
            items.insert(to, record.as_slice())?;
            Ok(Ok(()))
        }
        Err(reason) => Ok(Err(unusable(id_of(from), reason))),
    }
}
