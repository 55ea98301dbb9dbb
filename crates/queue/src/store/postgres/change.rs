//! Completing, returning, extending: what holders do with leased items.

use std::collections::HashMap;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{column, in_part, too_large, unavailable};
use super::fates::{End, Fate, Fates};
use super::item_row;
use super::list;
use super::operations::CHANGE;
use super::partition::PostgresPartition;
use super::values::{IdText, Instant, count};
use crate::ItemId;
use crate::store::{Change, Result, Verdict};

/// How often the items may turn out to be others than they were a moment before. The owner alone writes them, so once is
/// what happens when a request names an item that is not leased; more is somebody else's doing.
const TRIES: u32 = 4;

/// As few writes as they fit into: each request is in one of them as a whole.
pub(super) async fn change(
    partition: &mut PostgresPartition,
    requests: &[&[Change]],
) -> Result<Vec<Verdict>> {
    let max = partition.place.write_max().items;
    if let Some(request) = requests.iter().find(|request| request.len() > max) {
        let reason = format!("a request has {} items, at most {max} can be changed at once", request.len());
        return Err(too_large(CHANGE, reason));
    }
    let mut verdicts = Vec::with_capacity(requests.len());
    while verdicts.len() < requests.len() {
        let rest = &requests[verdicts.len()..];
        let mut items = 0_usize;
        let fits = |request: &&&[Change]| {
            items += request.len();
            items <= max
        };
        let some = &rest[..rest.iter().take_while(fits).count()];
        let is_first = verdicts.is_empty();
        verdicts.extend(change_some(partition, some).await.map_err(|error| in_part(is_first, error))?);
    }
    Ok(verdicts)
}

/// One statement if all items are leased, as they mostly are. It does nothing if they are not; then they are looked at,
/// and the statement carries only the requests that stand.
///
/// No transaction stays open between the look and the statement: a server that is paused in between would keep the next
/// owner waiting for it.
async fn change_some(partition: &mut PostgresPartition, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
    let mut fates = Fates::if_all_are_leased(requests);
    for _ in 0..TRIES {
        if fates.items.is_empty() || apply(partition, &fates).await? {
            return Ok(fates.verdicts);
        }
        let ids: Vec<_> = requests.iter().copied().flatten().map(Change::id).collect();
        let headers = list::headers(partition, &ids).await?;
        let states: HashMap<_, _> = headers.into_iter().map(|header| (header.id, header.state)).collect();
        fates = Fates::judge(requests, |id| states.get(&id).copied());
    }
    Err(unavailable(CHANGE, "the items change under their owner: something else writes to the table"))
}

/// Carries the fates out, all or none; false if an item is not leased.
async fn apply(partition: &mut PostgresPartition, fates: &Fates) -> Result<bool> {
    let ids: Vec<_> = fates.items.keys().map(|id| IdText(*id)).collect();
    let len = count(ids.len());
    let rows = if fates.all_complete() {
        let values = [(&ids as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
        partition.write(CHANGE, |statements| &statements.complete, &values).await?
    } else {
        write_all(partition, fates, &ids, len).await?
    };
    // No row where the write itself is the answer: then it did nothing.
    let Some(row) = rows.first() else { return Ok(false) };
    if column::<i64>(row, "owned")? != 1 {
        return Err(partition.place.fenced());
    }
    if column::<i64>(row, "held")? != len {
        return Ok(false);
    }
    if !fates.all_complete() {
        note(partition, fates, &rows)?;
    }
    let gone = fates.items.values().filter(|fate| fate.end == Some(End::Complete)).count();
    partition.upkeep.removed(gone);
    partition.upkeep.wore(ids.len() - gone);
    Ok(true)
}

async fn write_all(
    partition: &mut PostgresPartition,
    fates: &Fates,
    ids: &[IdText],
    len: i64,
) -> Result<Vec<Row>> {
    fn all<T>(fates: &Fates, of: impl Fn(ItemId, &Fate) -> T) -> Vec<T> {
        fates.items.iter().map(|(id, fate)| of(*id, fate)).collect()
    }
    let instant = |at: Option<Timestamp>| at.map(Instant);
    let values = [
        (&ids as _, Type::TEXT_ARRAY),
        (&len as _, Type::INT8),
        (&all(fates, |_, fate| fate.word()) as _, Type::TEXT_ARRAY),
        (&all(fates, |id, fate| IdText(new_id(id, fate))) as _, Type::TEXT_ARRAY),
        (&all(fates, |_, fate| fate.end.is_none()) as _, Type::BOOL_ARRAY),
        (&all(fates, |_, fate| instant(fate.lease_deadline)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&all(fates, |_, fate| instant(schedule(fate))) as _, Type::TIMESTAMPTZ_ARRAY),
        (&all(fates, |_, fate| instant(fate.expire_deadline)) as _, Type::TIMESTAMPTZ_ARRAY),
    ];
    partition.write(CHANGE, |statements| &statements.change, &values).await
}

fn new_id(id: ItemId, fate: &Fate) -> ItemId {
    match fate.end {
        Some(End::Return(new_id)) => new_id,
        _ => id,
    }
}

fn schedule(fate: &Fate) -> Option<Timestamp> {
    match fate.end {
        Some(End::Schedule(at)) => Some(at),
        _ => None,
    }
}

/// Keeps in mind what has become ready and which deadlines came.
fn note(partition: &mut PostgresPartition, fates: &Fates, rows: &[Row]) -> Result<()> {
    for fate in fates.items.values() {
        fate.lease_deadline.iter().for_each(|at| partition.floors.leased_until(*at));
        fate.expire_deadline.iter().for_each(|at| partition.floors.expires_at(*at));
        schedule(fate).iter().for_each(|at| partition.floors.scheduled_for(*at));
    }
    let mut ready = Vec::with_capacity(rows.len());
    for row in rows {
        if column::<Option<IdText>>(row, "id")?.is_some() {
            ready.push(item_row::ready(row)?);
        }
    }
    ready.sort_unstable_by_key(|(ready, _)| ready.id);
    ready.iter().for_each(|(ready, expire_deadline)| partition.window.enter(*ready, *expire_deadline));
    Ok(())
}
