//! Deleting items, whatever they are.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{column, in_part};
use super::open::counts;
use super::operations::{CLEAR, REMOVE};
use super::partition::PostgresPartition;
use super::values::{IdText, count};
use super::window::Window;
use crate::ItemId;
use crate::store::{Removed, Result};

/// How many rows one statement of a clear deletes: short enough for others to get their turn.
const CLEAR_LEN: usize = 10_000;

pub(super) async fn remove(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Removed> {
    let mut total = Removed::default();
    for (number, some) in ids.chunks(partition.place.write_max().items).enumerate() {
        let removed = remove_some(partition, some).await.map_err(|error| in_part(number == 0, error))?;
        add(&mut total, removed);
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

fn add(total: &mut Removed, removed: Removed) {
    total.ready += removed.ready;
    total.leased += removed.leased;
    total.scheduled += removed.scheduled;
}

/// Statement by statement. When a later one fails, what the earlier ones deleted is gone: the outcome is unknown until
/// the partition is opened again.
pub(super) async fn clear(
    partition: &mut PostgresPartition,
    ready: bool,
    leased: bool,
    scheduled: bool,
) -> Result<Removed> {
    let mut total = Removed::default();
    let len = partition.place.write_max().items.min(CLEAR_LEN);
    let mut cursor = Some(ItemId::MIN);
    while let Some(behind) = cursor {
        let (behind, limit) = (IdText(behind), count(len));
        let values = [
            (&behind as _, Type::TEXT),
            (&ready as _, Type::BOOL),
            (&leased as _, Type::BOOL),
            (&scheduled as _, Type::BOOL),
            (&limit as _, Type::INT8),
        ];
        let answer = partition.write(CLEAR, |statements| &statements.clear, &values).await;
        let rows = answer.map_err(|error| in_part(total == Removed::default(), error))?;
        let removed = removed(partition, &rows)?;
        add(&mut total, removed);
        cursor = column::<Option<IdText>>(&rows[0], "last_id")?.map(|id| id.0);
    }
    if ready {
        partition.window = Window::at_tail();
    }
    Ok(total)
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
