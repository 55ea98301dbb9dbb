//! Reading items.

use std::collections::HashMap;

use leasehold_txn::tokio_postgres::types::Type;

use super::item_row;
use super::operations::{FETCH, HEADERS, LIST};
use super::partition::PostgresPartition;
use super::place::Place;
use super::values::{IdText, count};
use crate::store::{ItemHeader, Listed, Result};
use crate::{Item, ItemId};

pub(super) async fn fetch(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Vec<Item>> {
    let texts: Vec<_> = ids.iter().map(|id| IdText(*id)).collect();
    let len = count(texts.len());
    let values = [(&texts as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.read_owned(FETCH, |statements| &statements.fetch, &values).await?;
    let found: HashMap<ItemId, Item> =
        item_row::items(&rows)?.into_iter().map(|item| (item.id, item)).collect();
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

pub(super) async fn headers(partition: &mut PostgresPartition, ids: &[ItemId]) -> Result<Vec<ItemHeader>> {
    let texts: Vec<_> = ids.iter().map(|id| IdText(*id)).collect();
    let len = count(texts.len());
    let values = [(&texts as _, Type::TEXT_ARRAY), (&len as _, Type::INT8)];
    let rows = partition.read_owned(HEADERS, |statements| &statements.headers, &values).await?;
    let found: Result<HashMap<ItemId, ItemHeader>> =
        rows.iter().map(|row| item_row::header(row).map(|header| (header.id, header))).collect();
    let found = found?;
    Ok(ids.iter().filter_map(|id| found.get(id).copied()).collect())
}

pub(super) async fn list(
    place: &Place,
    scheduled: bool,
    pivot: ItemId,
    limit: usize,
    bytes: usize,
) -> Result<Listed> {
    let script = match scheduled {
        true => &place.statements.list_scheduled,
        false => &place.statements.list,
    };
    let (pivot, len, bytes_max) = (IdText(pivot), count(limit), count(bytes));
    let values = [(&pivot as _, Type::TEXT), (&len as _, Type::INT8), (&bytes_max as _, Type::INT8)];
    let items = item_row::items(&place.read(LIST, script, &values).await?)?;
    let is_cut = items.len() >= limit || items.iter().map(Item::content_bytes).sum::<usize>() >= bytes;
    let next = items.last().filter(|_| is_cut).map(|last| last.id.successor());
    Ok(Listed { items, next })
}
