//! Deleting items, whatever they are.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{column, in_part};
use super::open::counts;
use super::operations::{CLEAR, REMOVE};
use super::partition::PostgresPartition;
use super::values::{IdText, count};
use crate::ItemId;
use crate::store::{Cleared, Removed, Result};

/// How many rows one step of a clear looks at: short enough for others to get their turn.
const CLEAR_LEN: usize = 10_000;

pub(super) async fn remove(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Removed> {
    let mut total = Removed::default();
    for (number, some) in ids.chunks(partition.place.write_max().items).enumerate() {
        total += remove_some(partition, some).await.map_err(|error| in_part(number == 0, error))?;
    }
    partition.window.leave(ids.iter().copied());
    Ok(total)
}

async fn remove_some(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Removed> {
    let texts: Vec<_> = ids.iter().map(|id| IdText(*id)).collect();
    let len = count(texts.len());
    let values = [(&texts as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.write(REMOVE, |statements| &statements.remove, &values).await?;
    removed(partition, &rows)
}

/// One statement: it looks at so many rows, whether they are wanted or not.
pub(super) async fn clear(
    partition: &mut PostgresPartition,
    ready: bool,
    leased: bool,
    scheduled: bool,
    behind: ItemId,
) -> Result<Cleared> {
    let limit = count(partition.place.write_max().items.min(CLEAR_LEN));
    let first = IdText(behind);
    let values = [
        (&first as _, Type::TEXT),
        (&ready as _, Type::BOOL),
        (&leased as _, Type::BOOL),
        (&scheduled as _, Type::BOOL),
        (&limit as _, Type::INT8),
    ];
    let rows = partition.write(CLEAR, |statements| &statements.clear, &values).await?;
    let removed = removed(partition, &rows)?;
    let last = last_looked_at(&rows)?;
    if let Some((last, _)) = last
        && ready
    {
        partition.window.leave_between(behind, last);
    }
    Ok(Cleared { removed, next: last.filter(|(_, len)| *len == limit).map(|(last, _)| last) })
}

/// The last row that a clear has looked at, if any, and how many it were.
pub(in crate::store) fn last_looked_at(rows: &[Row]) -> Result<Option<(ItemId, i64)>> {
    let row = rows.first().expect("an aggregate has a row in any case");
    let last = column::<Option<IdText>>(row, "last_id")?;
    let len = column::<i64>(row, "looked_at")?;
    Ok(last.map(|last| (last.0, len)))
}

fn removed(partition: &mut PostgresPartition, rows: &[Row]) -> Result<Removed> {
    let row = rows.first().expect("an aggregate has a row in any case");
    if column::<i64>(row, "owned")? != 1 {
        return Err(partition.place.fenced());
    }
    let removed = counts(row)?;
    let total = removed.ready + removed.leased + removed.scheduled;
    partition.upkeep.removed(usize::try_from(total).unwrap_or(usize::MAX));
    Ok(removed)
}
