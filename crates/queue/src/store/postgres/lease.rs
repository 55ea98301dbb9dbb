//! Finding ready items and leasing them.

use std::collections::HashMap;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::in_part;
use super::item_row;
use super::operations::{LEASE, NEXT_READY};
use super::partition::PostgresPartition;
use super::values::{IdText, Instant, count};
use crate::store::{Pick, Ready, Result};
use crate::{Item, ItemId};

/// Answered from memory unless the window has run out.
pub(super) async fn next_ready(
    partition: &mut PostgresPartition,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<Ready>> {
    partition.epoch()?;
    loop {
        let found = partition.window.next(limit, now);
        match partition.window.missing(limit, found.len(), now) {
            None => return Ok(found),
            Some((cursor, wanted)) => read_on(partition, cursor, wanted).await?,
        }
    }
}

async fn read_on(partition: &mut PostgresPartition, cursor: ItemId, wanted: usize) -> Result<()> {
    let (cursor, limit) = (IdText(cursor), count(wanted));
    let values = [(&cursor as _, Type::TEXT), (&limit as _, Type::INT8)];
    let rows = partition.read(NEXT_READY, |statements| &statements.next_ready, &values).await?;
    let ready: Result<Vec<_>> = rows.iter().map(item_row::ready).collect();
    partition.window.read(wanted, ready?.into_iter());
    Ok(())
}

/// One write if they fit into one.
pub(super) async fn lease(partition: &mut PostgresPartition, picks: &[Pick]) -> Result<Vec<Item>> {
    let mut leased = Vec::with_capacity(picks.len());
    for (number, some) in picks.chunks(partition.place.write_max().items).enumerate() {
        leased.extend(lease_some(partition, some).await.map_err(|error| in_part(number == 0, error))?);
    }
    Ok(leased)
}

async fn lease_some(partition: &mut PostgresPartition, picks: &[Pick]) -> Result<Vec<Item>> {
    let ids: Vec<_> = picks.iter().map(|pick| IdText(pick.id)).collect();
    let deadlines: Vec<_> = picks.iter().map(|pick| Instant(pick.deadline)).collect();
    let len = count(picks.len());
    let values =
        [(&ids as _, Type::TEXT_ARRAY), (&deadlines as _, Type::TIMESTAMPTZ_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.write(LEASE, |statements| &statements.lease, &values).await?;
    if rows.is_empty() {
        partition.assert_owned(LEASE).await?;
    }
    partition.window.leave(picks.iter().map(|pick| pick.id));
    for pick in picks {
        partition.floors.leased_until(pick.deadline);
    }
    partition.upkeep.wore(rows.len());
    let mut leased: HashMap<ItemId, Item> =
        item_row::items(&rows)?.into_iter().map(|item| (item.id, item)).collect();
    Ok(picks.iter().filter_map(|pick| leased.remove(&pick.id)).collect())
}
