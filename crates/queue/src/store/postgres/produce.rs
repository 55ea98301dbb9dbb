//! Adding items.

use std::collections::{HashMap, HashSet};

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{admit, column, too_large};
use super::operations::PRODUCE;
use super::partition::PostgresPartition;
use super::values::{IdText, Instant};
use crate::store::{Placement, Result, WriteMax};
use crate::{Item, ItemId};

pub(super) async fn produce(partition: &mut PostgresPartition, items: &[Item]) -> Result<Vec<Placement>> {
    admit_all(partition, items)?;
    let placements = if items.iter().all(is_plain) {
        place_plain(partition, items).await?;
        vec![Placement::Placed; items.len()]
    } else {
        import(partition, items).await?
    };
    let placed = items.iter().zip(&placements).filter(|(_, placement)| **placement == Placement::Placed);
    note(partition, placed.map(|(item, _)| item));
    Ok(placements)
}

/// Refuses what the tables cannot hold.
pub(super) fn admit_all(partition: &PostgresPartition, items: &[Item]) -> Result<()> {
    items.iter().try_for_each(admitted)?;
    fits(&partition.place.write_max(), items)
}

/// Keeps in mind what was stored.
pub(super) fn note<'a>(partition: &mut PostgresPartition, items: impl IntoIterator<Item = &'a Item>) {
    let mut placed = 0;
    for item in items {
        partition.window.place(item);
        partition.floors.place(item);
        placed += 1;
    }
    partition.upkeep.added(placed);
}

/// Whether the table's defaults say what the shorter statement does not.
fn is_plain(item: &Item) -> bool {
    item.source_id.is_none()
        && !item.is_leased
        && item.lease_deadline.is_none()
        && (item.attempts, item.max_attempts) == (0, 0)
}

fn fits(max: &WriteMax, items: &[Item]) -> Result<()> {
    if *max == WriteMax::NONE {
        return Ok(());
    }
    let sizes = items.iter().map(Item::bytes);
    max.refuse(sizes).map_err(|refusal| too_large(PRODUCE, refusal.to_string()))?;
    let source_ids = items.iter().filter_map(|item| item.source_id.as_ref());
    match source_ids.map(String::len).max().filter(|len| *len > max.source_id_bytes) {
        Some(len) => {
            let limit = max.source_id_bytes;
            Err(too_large(PRODUCE, format!("a source id has {len} bytes, at most {limit} fit into a key")))
        }
        None => Ok(()),
    }
}

fn admitted(item: &Item) -> Result<()> {
    let source_id = item.source_id.as_deref().unwrap_or_default();
    let texts = [
        ("source id", source_id),
        ("reference", &item.reference),
        ("encoding", &item.encoding),
        ("kind", &item.kind),
    ];
    texts.iter().try_for_each(|(field, text)| admit(|| format!("item {}", item.id), field, text))
}

/// The columns of items.
pub(super) struct Columns<'a>(pub(super) &'a [Item]);

impl<'a> Columns<'a> {
    pub(super) fn of<T>(&self, column: impl Fn(&'a Item) -> T) -> Vec<T> {
        self.0.iter().map(column).collect()
    }
}

async fn place_plain(partition: &mut PostgresPartition, items: &[Item]) -> Result<()> {
    let columns = Columns(items);
    let values = [
        (&columns.of(|item| IdText(item.id)) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| Instant(item.expire_deadline)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| item.enqueue_at.map(Instant)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| Instant(item.created_at)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| item.reference.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.encoding.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.kind.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| &item.payload[..]) as _, Type::BYTEA_ARRAY),
    ];
    let rows = partition.write(PRODUCE, |statements| &statements.produce, &values).await?;
    owned(partition, &rows).map(drop)
}

async fn import(partition: &mut PostgresPartition, items: &[Item]) -> Result<Vec<Placement>> {
    let columns = Columns(items);
    let values = [
        (&columns.of(|item| IdText(item.id)) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.source_id.as_deref()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.is_leased) as _, Type::BOOL_ARRAY),
        (&columns.of(|item| item.lease_deadline.map(Instant)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| Instant(item.expire_deadline)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| item.enqueue_at.map(Instant)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| Instant(item.created_at)) as _, Type::TIMESTAMPTZ_ARRAY),
        (&columns.of(|item| item.attempts) as _, Type::INT4_ARRAY),
        (&columns.of(|item| item.max_attempts) as _, Type::INT4_ARRAY),
        (&columns.of(|item| item.reference.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.encoding.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| item.kind.as_str()) as _, Type::TEXT_ARRAY),
        (&columns.of(|item| &item.payload[..]) as _, Type::BYTEA_ARRAY),
    ];
    let rows = partition.write(PRODUCE, |statements| &statements.import, &values).await?;
    placements(owned(partition, &rows)?, items)
}

/// The row of a statement that was the owner's.
fn owned<'a>(partition: &PostgresPartition, rows: &'a [Row]) -> Result<&'a Row> {
    match rows.first() {
        Some(row) if column::<i64>(row, "owned")? == 1 => Ok(row),
        _ => Err(partition.place.fenced()),
    }
}

/// An item that was not placed was known by its source id: from before, or from earlier in the batch.
fn placements(row: &Row, items: &[Item]) -> Result<Vec<Placement>> {
    let placed: Vec<IdText> = column(row, "placed")?;
    let placed: HashSet<ItemId> = placed.iter().map(|id| id.0).collect();
    let (ids, source_ids): (Vec<IdText>, Vec<&str>) =
        (column(row, "known_ids")?, column(row, "known_source_ids")?);
    let mut known: HashMap<&str, ItemId> = source_ids.into_iter().zip(ids.iter().map(|id| id.0)).collect();
    let place = |item: &'_ Item, known: &HashMap<&str, ItemId>| match placed.contains(&item.id) {
        true => Placement::Placed,
        // Unknown only if somebody else writes to the table: then it was there, and is not any more.
        false => {
            let source_id = item.source_id.as_deref().unwrap_or_default();
            Placement::Known(known.get(source_id).copied().unwrap_or(item.id))
        }
    };
    let mut placements = Vec::with_capacity(items.len());
    for item in items {
        let placement = place(item, &known);
        if let (Placement::Placed, Some(source_id)) = (placement, item.source_id.as_deref()) {
            known.insert(source_id, item.id);
        }
        placements.push(placement);
    }
    Ok(placements)
}
