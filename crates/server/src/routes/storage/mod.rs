//! Items as they are stored: a file per verb.

mod delete;
mod import;
mod list;

use leasehold_api::queue::StorageItem;
use leasehold_queue::Item;

use super::body::BodyLimit;
use super::operation::Operations;
use super::wire::{timestamp, timestamp_or_zero};

pub(super) fn operations(operations: Operations) -> Operations {
    let usual = BodyLimit::USUAL;
    operations
        .long_operation("/v1/storage/items.list", usual, list::items)
        .long_operation("/v1/storage/scheduled.list", usual, list::scheduled)
        .operation("/v1/storage/items.import", BodyLimit::of(64_000_000), import::import)
        .operation("/v1/storage/items.delete", usual, delete::delete)
}

fn message(item: Item) -> StorageItem {
    StorageItem {
        id: item.id.text().as_str().to_owned(),
        source_id: item.source_id.unwrap_or_default(),
        is_leased: item.is_leased,
        lease_deadline: Some(timestamp_or_zero(item.lease_deadline)),
        expire_deadline: Some(timestamp(item.expire_deadline)),
        dead_deadline: None,
        created_at: Some(timestamp(item.created_at)),
        updated_at: None,
        enqueue_at: item.enqueue_at.map(timestamp),
        attempts: item.attempts,
        max_attempts: item.max_attempts,
        reference: item.reference,
        encoding: item.encoding,
        kind: item.kind,
        payload: item.payload,
    }
}
