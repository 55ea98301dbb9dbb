//! Reading what is committed, without waiting for the writer.

use std::ops::Bound;

use leasehold_core::{Key, LockId, LockRecord, Timestamp};
use redb::{Error, ReadTransaction};

use super::tables::{HOLDS, KEYS, decode};
use crate::ListRequest;
use crate::backend::rules;

pub(super) fn of_key(read: &ReadTransaction, key: &Key) -> Result<Option<LockRecord>, Error> {
    let holds = read.open_table(HOLDS)?;
    Ok(holds.get(key.as_str())?.and_then(|found| decode(key.as_str(), found.value())))
}

pub(super) fn of_lock_id(read: &ReadTransaction, lock_id: &LockId) -> Result<Option<LockRecord>, Error> {
    let Some(key) = read.open_table(KEYS)?.get(lock_id.as_str())? else { return Ok(None) };
    let holds = read.open_table(HOLDS)?;
    Ok(holds.get(key.value())?.and_then(|found| decode(key.value(), found.value())))
}

pub(super) fn live_after(
    read: &ReadTransaction,
    request: &ListRequest,
    now: Timestamp,
) -> Result<Vec<LockRecord>, Error> {
    let holds = read.open_table(HOLDS)?;
    let from = request.after.as_ref().map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_str()));
    let mut page = Vec::new();
    for entry in holds.range::<&str>((from, Bound::Unbounded))? {
        if page.len() == request.page_len() {
            break;
        }
        let (key, hold) = entry?;
        page.extend(decode(key.value(), hold.value()).filter(|held| rules::live(held, now)));
    }
    Ok(page)
}
