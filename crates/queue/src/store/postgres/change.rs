//! Completing, returning, extending: what holders do with leased items.

use std::collections::HashMap;

use leasehold_core::Timestamp;
use leasehold_txn::Pipeline;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{column, in_part, too_large, unavailable};
use super::fates::{End, Fate, Fates};
use super::operations::CHANGE;
use super::partition::PostgresPartition;
use super::place::Value;
use super::values::{IdText, Instant, count};
use crate::store::{Change, Result, Verdict};
use crate::{ItemId, ItemState};

/// How often items are looked at. The owner alone writes them, so what they are found to be they stay; otherwise is
/// somebody else's doing.
const LOOKS: u32 = 3;

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

/// One statement if all items are leased, as they mostly are. It does nothing if they are not.
async fn change_some(partition: &mut PostgresPartition, requests: &[&[Change]]) -> Result<Vec<Verdict>> {
    let fates = Fates::if_all_are_leased(requests);
    if fates.items.is_empty() || apply(partition, &fates).await? {
        return Ok(fates.verdicts);
    }
    change_by_states(partition, requests).await
}

/// Looks at the items, and carries out only the requests that stand.
///
/// No transaction stays open between the look and the statement: a server that is paused in between would keep the next
/// owner waiting for it.
pub(super) async fn change_by_states(
    partition: &mut PostgresPartition,
    requests: &[&[Change]],
) -> Result<Vec<Verdict>> {
    for _ in 0..LOOKS {
        let states = states(partition, requests).await?;
        let fates = Fates::judge(requests, |id| states.get(&id).copied());
        if fates.items.is_empty() || apply(partition, &fates).await? {
            return Ok(fates.verdicts);
        }
    }
    Err(unavailable(CHANGE, "the items change under their owner: something else writes to the table"))
}

/// Carries the fates out, all or none; false if an item is not leased.
async fn apply(partition: &mut PostgresPartition, fates: &Fates) -> Result<bool> {
    let columns = FateColumns::of(fates);
    let rows = match fates.all_complete() {
        true => partition.write(CHANGE, |statements| &statements.complete, &columns.ids_alone()).await?,
        false => partition.write(CHANGE, |statements| &statements.change, &columns.values()).await?,
    };
    // No row where the write itself is the answer: then it did nothing.
    let Some(row) = rows.first() else { return Ok(false) };
    if column::<i64>(row, "owned")? != 1 {
        return Err(partition.place.fenced());
    }
    if column::<i64>(row, "held")? != columns.len {
        return Ok(false);
    }
    let ready = if fates.all_complete() { Vec::new() } else { ready(&rows)? };
    note(partition, fates, &ready);
    Ok(true)
}

/// Fates as `change.sql` takes them.
pub(super) struct FateColumns {
    ids: Vec<IdText>,
    pub(super) len: i64,
    words: Vec<&'static str>,
    new_ids: Vec<IdText>,
    are_leased: Vec<bool>,
    lease_deadlines: Vec<Option<Instant>>,
    schedules: Vec<Option<Instant>>,
    expire_deadlines: Vec<Option<Instant>>,
}

impl FateColumns {
    pub(super) fn of(fates: &Fates) -> Self {
        fn all<T>(fates: &Fates, of: impl Fn(ItemId, &Fate) -> T) -> Vec<T> {
            fates.items.iter().map(|(id, fate)| of(*id, fate)).collect()
        }
        FateColumns {
            ids: all(fates, |id, _| IdText(id)),
            len: count(fates.items.len()),
            words: all(fates, |_, fate| fate.word()),
            new_ids: all(fates, |id, fate| IdText(new_id(id, fate))),
            are_leased: all(fates, |_, fate| fate.end.is_none()),
            lease_deadlines: all(fates, |_, fate| fate.lease_deadline.map(Instant)),
            schedules: all(fates, |_, fate| schedule(fate).map(Instant)),
            expire_deadlines: all(fates, |_, fate| fate.expire_deadline.map(Instant)),
        }
    }

    /// What `complete.sql` takes.
    fn ids_alone(&self) -> [Value<'_>; 2] {
        [(&self.ids, Type::TEXT_ARRAY), (&self.len, Type::INT8)]
    }

    pub(super) fn values(&self) -> [Value<'_>; 8] {
        let [ids, len] = self.ids_alone();
        [
            ids,
            len,
            (&self.words, Type::TEXT_ARRAY),
            (&self.new_ids, Type::TEXT_ARRAY),
            (&self.are_leased, Type::BOOL_ARRAY),
            (&self.lease_deadlines, Type::TIMESTAMPTZ_ARRAY),
            (&self.schedules, Type::TIMESTAMPTZ_ARRAY),
            (&self.expire_deadlines, Type::TIMESTAMPTZ_ARRAY),
        ]
    }
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

/// Keeps in mind what has become ready, in order, and which deadlines came.
pub(super) fn note(partition: &mut PostgresPartition, fates: &Fates, ready: &[(ItemId, Timestamp)]) {
    for fate in fates.items.values() {
        fate.lease_deadline.iter().for_each(|at| partition.floors.leased_until(*at));
        fate.expire_deadline.iter().for_each(|at| partition.floors.expires_at(*at));
        schedule(fate).iter().for_each(|at| partition.floors.scheduled_for(*at));
    }
    ready.iter().for_each(|(id, expire_deadline)| partition.window.enter(*id, *expire_deadline));
    let gone = fates.items.values().filter(|fate| fate.end == Some(End::Complete)).count();
    partition.upkeep.removed(gone);
    partition.upkeep.wore(fates.items.len() - gone);
}

/// What became ready, with its expire deadline.
fn ready(rows: &[Row]) -> Result<Vec<(ItemId, Timestamp)>> {
    let mut ready = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(id) = column::<Option<IdText>>(row, "id")? {
            ready.push((id.0, column::<Instant>(row, "expire_deadline")?.0));
        }
    }
    ready.sort_unstable();
    Ok(ready)
}

async fn states(
    partition: &mut PostgresPartition,
    requests: &[&[Change]],
) -> Result<HashMap<ItemId, ItemState>> {
    let ids: Vec<_> = requests.iter().copied().flatten().map(|change| IdText(change.id())).collect();
    let (place, epoch, len) = (partition.place.clone(), partition.epoch()?, count(ids.len()));
    let queue = place.queue();
    let values = [
        (&queue as _, Type::TEXT),
        (&place.number as _, Type::INT8),
        (&epoch as _, Type::INT8),
        (&ids as _, Type::TEXT_ARRAY),
        (&len as _, Type::INT8),
    ];
    let script = &place.statements.states;
    let rows = script.answer(place.run(Pipeline::read(CHANGE, &script.steps(&values)), CHANGE).await?);
    let mut states = HashMap::with_capacity(rows.len());
    for row in &rows {
        if !column::<bool>(row, "owned")? {
            return Err(partition.place.fenced());
        }
        if let Some(id) = column::<Option<IdText>>(row, "id")? {
            states.insert(id.0, state(row)?);
        }
    }
    Ok(states)
}

fn state(row: &Row) -> Result<ItemState> {
    Ok(match (column(row, "is_scheduled")?, column(row, "is_leased")?) {
        (true, _) => ItemState::Scheduled,
        (false, true) => ItemState::Leased,
        (false, false) => ItemState::Ready,
    })
}
