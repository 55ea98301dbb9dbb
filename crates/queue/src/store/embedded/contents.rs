//! The records of many items, read in one pass over the table.

use std::ops::Range;

use bytes::Bytes;
use redb::{Error, ReadableTable};

use super::record;
use super::tables::{ItemKey, key};
use crate::store::index::Header;
use crate::store::{Result, StoreError};
use crate::{Item, ItemId};

/// Records that may lie between two that are wanted before it is cheaper to look for the next one from the root.
const SKIPPED_MAX: u32 = 16;

/// Records of items, in one buffer.
#[derive(Debug)]
pub(super) struct Contents {
    buffer: Vec<u8>,
    /// Where each record is, in the order asked; none for one that is not there.
    records: Vec<Option<Range<usize>>>,
}

impl Contents {
    /// Reads the records with these ids.
    pub(super) fn read(
        items: &impl ReadableTable<ItemKey, &'static [u8]>,
        partition: u64,
        ids: impl ExactSizeIterator<Item = ItemId>,
    ) -> Result<Self, Error> {
        let mut contents = Contents { buffer: Vec::new(), records: vec![None; ids.len()] };
        let mut wanted: Vec<(ItemKey, usize)> =
            ids.enumerate().map(|(at, id)| (key(partition, id), at)).collect();
        // Mostly they are in order already.
        wanted.sort_unstable();
        let Some((last, _)) = wanted.last().copied() else { return Ok(contents) };
        let mut wanted = wanted.as_slice();
        'seek: while let [(first, _), ..] = wanted {
            let mut skipped = 0;
            for entry in items.range(*first..=last)? {
                let (found, record) = entry?;
                let found = found.value();
                let missing = wanted.iter().take_while(|(key, _)| *key < found).count();
                let same = wanted[missing..].iter().take_while(|(key, _)| *key == found).count();
                contents.take(&wanted[missing..missing + same], record.value());
                wanted = &wanted[missing + same..];
                skipped = if same > 0 { 0 } else { skipped + 1 };
                if skipped > SKIPPED_MAX {
                    continue 'seek;
                }
            }
            break;
        }
        Ok(contents)
    }

    fn take(&mut self, wanted: &[(ItemKey, usize)], record: &[u8]) {
        if wanted.is_empty() {
            return;
        }
        let start = self.buffer.len();
        self.buffer.extend_from_slice(record);
        for (_, at) in wanted {
            self.records[*at] = Some(start..self.buffer.len());
        }
    }

    /// The items, with the headers they have now: the same ids, in the same order.
    pub(super) fn items(self, headers: &[(ItemId, Header)]) -> Result<Vec<Item>> {
        let buffer = Bytes::from(self.buffer);
        let items = headers.iter().zip(self.records).map(|((id, header), record)| {
            let record = record.ok_or("it is missing").map(|record| buffer.slice(record));
            record
                .and_then(|record| record::item(*id, &record, header))
                .map_err(|reason| unusable(*id, reason))
        });
        items.collect()
    }
}

pub(super) fn unusable(id: ItemId, reason: &str) -> StoreError {
    StoreError::Unusable { what: format!("the record of item {id}"), reason: reason.to_owned() }
}
