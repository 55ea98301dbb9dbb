//! Lists live holds in the order of their keys.

use leasehold_core::LockRecord;

use super::FirestoreBackend;
use super::api::{
    CollectionSelector, Cursor, Direction, FieldReference, Order, StructuredQuery, Value, ValueType,
};
use super::documents::held;
use super::errors::Failure;
use crate::backend::rules;
use crate::{ListRequest, Result};

const OPERATION: &str = "list";
/// So many documents are read at a time, at least: ended holds among them are passed over.
const READ_LEN_MIN: usize = 100;

/// The name of a document is its key, and names are ordered by their bytes.
pub(super) async fn list(backend: &FirestoreBackend, request: &ListRequest) -> Result<Vec<LockRecord>> {
    let mut cursor = request.after.as_ref().map(|key| backend.names.cursor(key)).transpose()?;
    let mut page: Vec<LockRecord> = Vec::new();
    while page.len() < request.page_len() {
        let read_len = (request.page_len() - page.len()).max(READ_LEN_MIN);
        let documents = read(backend, cursor.as_deref(), read_len).await?;
        let is_end = documents.len() < read_len;
        cursor = documents.last().map(|document| document.name.clone()).or(cursor);
        let now = backend.now();
        let records =
            documents.into_iter().filter_map(|document| held(document).ok()).map(|held| held.record);
        let live = records.filter(|record| {
            rules::live(record, now) && request.after.as_ref().is_none_or(|after| record.key > *after)
        });
        page.extend(live.take(request.page_len() - page.len()));
        if is_end {
            break;
        }
    }
    Ok(page)
}

async fn read(
    backend: &FirestoreBackend,
    cursor: Option<&str>,
    read_len: usize,
) -> Result<Vec<super::api::Document>> {
    let mut attempts = backend.attempts(OPERATION);
    loop {
        let query = after(backend.names.locks(), cursor, read_len);
        match backend.client.query(&backend.names.root, query).await {
            Ok(found) => return Ok(found.what),
            Err(status) => attempts.after(Failure::of_read(status)).await?,
        }
    }
}

pub(super) fn after(collection: &str, cursor: Option<&str>, read_len: usize) -> StructuredQuery {
    let by_name = Order {
        field: Some(FieldReference { field_path: "__name__".to_owned() }),
        direction: Direction::Ascending.into(),
    };
    let start_after = |name: &str| Cursor {
        values: vec![Value { value_type: Some(ValueType::ReferenceValue(name.to_owned())) }],
        before: false,
    };
    StructuredQuery {
        from: vec![CollectionSelector { collection_id: collection.to_owned(), all_descendants: false }],
        order_by: vec![by_name],
        start_at: cursor.map(start_after),
        limit: Some(i32::try_from(read_len).expect("a page is at most a thousand")),
        ..StructuredQuery::default()
    }
}
