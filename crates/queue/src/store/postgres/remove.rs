//! Deleting items, whatever they are.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::column;
use super::open::counts;
use super::operations::{CLEAR, REMOVE};
use super::partition::PostgresPartition;
use super::values::{IdText, count};
use super::window::Window;
use crate::ItemId;
use crate::store::{Removed, Result, StoreError};

/// How many rows one statement of a clear deletes: short enough for others to get their turn.
const CLEAR_LEN: usize = 10_000;

pub(super) async fn remove(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Removed> {
    let texts: Vec<_> = ids.iter().map(|id| IdText(*id)).collect();
    let len = count(texts.len());
    let values = [(&texts as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.write(REMOVE, |statements| &statements.remove, &values).await?;
    let removed = removed(partition, &rows)?;
    partition.window.leave(ids.iter().copied());
    Ok(removed)
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
    let mut cursor = Some(ItemId::MIN);
    while let Some(behind) = cursor {
        let (behind, limit) = (IdText(behind), count(CLEAR_LEN));
        let values = [
            (&behind as _, Type::TEXT),
            (&ready as _, Type::BOOL),
            (&leased as _, Type::BOOL),
            (&scheduled as _, Type::BOOL),
            (&limit as _, Type::INT8),
        ];
        let rows = match partition.write(CLEAR, |statements| &statements.clear, &values).await {
            Err(StoreError::Unavailable { operation, source }) if total != Removed::default() => {
                return Err(StoreError::Indeterminate { operation, source });
            }
            answer => answer?,
        };
        let removed = removed(partition, &rows)?;
        total.ready += removed.ready;
        total.leased += removed.leased;
        total.scheduled += removed.scheduled;
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
    partition.upkeep.wore(usize::try_from(total).unwrap_or(usize::MAX));
    Ok(removed)
}
