//! A row of items.

use bytes::Bytes;
use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;

use super::errors::{column, unusable};
use super::values::{IdText, Instant};
use crate::store::{ItemHeader, Ready, Result};
use crate::{Item, ItemState};

/// The item in a row of the columns that `statements.rs` lists. NULL stands for empty in what Querator wrote.
pub(super) fn item(row: &Row) -> Result<Item> {
    let id: IdText = cell(row, 0)?;
    let at = |index| cell::<Option<Instant>>(row, index).map(|at| at.map(|at| at.0));
    Ok(Item {
        id: id.0,
        source_id: cell(row, 1)?,
        is_leased: cell(row, 2)?,
        lease_deadline: at(3)?,
        expire_deadline: cell::<Instant>(row, 4)?.0,
        enqueue_at: at(5)?,
        created_at: cell::<Instant>(row, 6)?.0,
        attempts: cell(row, 7)?,
        max_attempts: cell(row, 8)?,
        reference: cell(row, 9)?,
        encoding: cell(row, 10)?,
        kind: cell(row, 11)?,
        payload: cell::<Option<&[u8]>>(row, 12)?.map_or_else(Bytes::new, Bytes::copy_from_slice),
    })
}

pub(super) fn items(rows: &[Row]) -> Result<Vec<Item>> {
    rows.iter().map(item).collect()
}

/// The header in a row of `headers.sql`.
pub(super) fn header(row: &Row) -> Result<ItemHeader> {
    let at = |name| column::<Option<Instant>>(row, name).map(|at| at.map(|at| at.0));
    let enqueue_at = at("enqueue_at")?;
    let state = match (enqueue_at, column(row, "is_leased")?) {
        (Some(_), _) => ItemState::Scheduled,
        (None, true) => ItemState::Leased,
        (None, false) => ItemState::Ready,
    };
    Ok(ItemHeader {
        id: column::<IdText>(row, "id")?.0,
        state,
        lease_deadline: at("lease_deadline")?,
        expire_deadline: column::<Instant>(row, "expire_deadline")?.0,
        enqueue_at,
        created_at: column::<Instant>(row, "created_at")?.0,
        attempts: column(row, "attempts")?,
    })
}

/// A ready item and its expire deadline, of statements that tell of those alone.
pub(super) fn ready(row: &Row) -> Result<(Ready, Timestamp)> {
    let id: IdText = column(row, "id")?;
    let bytes = u32::try_from(column::<i64>(row, "bytes")?).unwrap_or(u32::MAX);
    Ok((Ready { id: id.0, bytes }, column::<Instant>(row, "expire_deadline")?.0))
}

fn cell<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T> {
    row.try_get(index).map_err(|error| {
        let column = row.columns().get(index).map_or("", |column| column.name());
        unusable(format!("column {column} of an item"), &error)
    })
}
