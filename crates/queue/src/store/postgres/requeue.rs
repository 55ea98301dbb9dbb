//! Putting items at the tail.

use std::collections::HashSet;

use leasehold_txn::tokio_postgres::types::Type;

use super::errors::in_part;
use super::item_row;
use super::operations::REQUEUE;
use super::partition::PostgresPartition;
use super::values::{IdText, count};
use crate::ItemId;
use crate::store::Result;

/// One write if they fit into one.
pub(super) async fn requeue(
    partition: &mut PostgresPartition,
    moves: &[(ItemId, ItemId)],
) -> Result<Vec<ItemId>> {
    let mut seen = HashSet::with_capacity(moves.len());
    let moves: Vec<_> = moves.iter().filter(|(id, _)| seen.insert(*id)).copied().collect();
    let mut moved = Vec::with_capacity(moves.len());
    for (number, some) in moves.chunks(partition.place.write_max().items).enumerate() {
        moved.extend(requeue_some(partition, some).await.map_err(|error| in_part(number == 0, error))?);
    }
    Ok(moved)
}

async fn requeue_some(partition: &mut PostgresPartition, moves: &[(ItemId, ItemId)]) -> Result<Vec<ItemId>> {
    let ids: Vec<_> = moves.iter().map(|(id, _)| IdText(*id)).collect();
    let new_ids: Vec<_> = moves.iter().map(|(_, new_id)| IdText(*new_id)).collect();
    let len = count(ids.len());
    let values = [(&ids as _, Type::TEXT_ARRAY), (&new_ids as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.write(REQUEUE, |statements| &statements.requeue, &values).await?;
    if rows.is_empty() {
        partition.assert_owned(REQUEUE).await?;
    }
    let mut moved = rows.iter().map(item_row::ready).collect::<Result<Vec<_>>>()?;
    moved.sort_unstable_by_key(|(ready, _)| ready.id);
    partition.window.leave(moves.iter().map(|(id, _)| *id));
    for (ready, expire_deadline) in &moved {
        partition.window.enter(*ready, *expire_deadline);
        // A schedule did not count while it waited.
        partition.floors.expires_at(*expire_deadline);
    }
    partition.upkeep.wore(moved.len());
    let took_effect: HashSet<ItemId> = moved.into_iter().map(|(ready, _)| ready.id).collect();
    Ok(moves.iter().map(|(_, new_id)| *new_id).filter(|new_id| took_effect.contains(new_id)).collect())
}
