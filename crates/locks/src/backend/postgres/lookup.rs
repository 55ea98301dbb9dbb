//! Looking holds up.

use leasehold_core::postgres::admit;
use leasehold_core::{Fence, Key, KeyHash, LockId, LockRecord, Timestamp};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Step, Values};

use super::errors::{column, error_of};
use super::found::{Found, Verb, find, find_by_call};
use super::store::Store;
use super::{PostgresBackend, operations};
use crate::{Error, ListRequest, LookupBy, Result};

const LOOKUP: Verb = Verb { name: "lookup", operation: operations::LOOKUP };
const LIST: &str = "list";

/// By the function where the schema has it.
pub(super) async fn lookup_by_call(
    backend: &PostgresBackend,
    by: LookupBy<'_>,
) -> Result<Option<LockRecord>> {
    live(find_by_call(backend, LOOKUP, by).await?)
}

/// By the statement.
pub(in crate::backend) async fn lookup(store: &Store, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
    live(find(store, LOOKUP, by).await?)
}

fn live(found: Option<Found>) -> Result<Option<LockRecord>> {
    let live = found.filter(|found| found.is_live);
    live.map(|found| record(LOOKUP.name, &found.row)).transpose()
}

pub(in crate::backend) async fn list(store: &Store, request: &ListRequest) -> Result<Vec<LockRecord>> {
    request.after.as_ref().map_or(Ok(()), admit)?;
    // Every key sorts after the empty text.
    let after = request.after.as_ref().map_or("", Key::as_str);
    let len_max = i64::try_from(request.page_len()).expect("a page is short");
    let values: Values<'_> = &[(&after, Type::TEXT), (&len_max, Type::INT8)];
    let steps = [Step::new(&store.statements.list, values)];
    let rows = store.read(operations::LIST, &steps).await.map_err(|error| error_of(LIST, error))?;
    rows.iter().map(|row| record(LIST, row)).collect()
}

/// A hold; a row that SyncGuard would not have written is somebody else's.
fn record(operation: &'static str, row: &Row) -> Result<LockRecord> {
    let user_key: &str = column(operation, row, "user_key")?;
    let foreign = |_| Error::Foreign { operation, key_hash: KeyHash::of(user_key) };
    Ok(LockRecord {
        key: Key::parse(user_key).map_err(foreign)?,
        lock_id: LockId::parse(column(operation, row, "lock_id")?).map_err(foreign)?,
        expires_at: Timestamp::from_millis(column(operation, row, "expires_at_ms")?),
        acquired_at: Timestamp::from_millis(column(operation, row, "acquired_at_ms")?),
        fence: Fence::parse(column(operation, row, "fence")?).map_err(foreign)?,
    })
}
