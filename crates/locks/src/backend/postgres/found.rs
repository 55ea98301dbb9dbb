//! The row of one hold, live or not.

use std::time::Duration;

use leasehold_core::postgres::admit;
use leasehold_core::{StorageKeySpace, TIME_TOLERANCE, Timestamp, is_live};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Operation, Step, Values};

use super::PostgresBackend;
use super::errors::{column, error_of};
use super::store::Store;
use crate::{LookupBy, Result};

/// Who asks, in the words of errors and of metrics.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct Verb {
    pub(in crate::backend) name: &'static str,
    pub(in crate::backend) operation: Operation,
}

/// A row, and what the clock that judges says of it.
#[derive(Debug)]
pub(in crate::backend) struct Found {
    pub(in crate::backend) row: Row,
    pub(in crate::backend) is_live: bool,
    /// Since when it is past its end; zero before that.
    pub(in crate::backend) over_for: Duration,
}

/// By the function where the schema has it.
pub(super) async fn find_by_call(
    backend: &PostgresBackend,
    verb: Verb,
    by: LookupBy<'_>,
) -> Result<Option<Found>> {
    let call = match by {
        LookupBy::Key(_) => &backend.statements.call_lookup_by_key,
        LookupBy::LockId(_) => &backend.statements.call_lookup_by_id,
    };
    let text = text(by)?;
    let values: Values<'_> = &[(&text, Type::TEXT)];
    let called = backend.functions.look_up(backend, verb.operation, call, values).await;
    match called.map_err(|error| error_of(verb.name, error))? {
        Some(rows) => judged(verb, rows),
        None => find(&backend.store, verb, by).await,
    }
}

/// By the statement.
pub(in crate::backend) async fn find(store: &Store, verb: Verb, by: LookupBy<'_>) -> Result<Option<Found>> {
    let sql = match by {
        LookupBy::Key(_) => &store.statements.lookup_by_key,
        LookupBy::LockId(_) => &store.statements.lookup_by_id,
    };
    let text = text(by)?;
    let values: Values<'_> = &[(&text, Type::TEXT)];
    let rows = store.read(verb.operation, &[Step::new(sql, values)]).await;
    judged(verb, rows.map_err(|error| error_of(verb.name, error))?)
}

/// What the row is looked for by.
fn text(by: LookupBy<'_>) -> Result<String> {
    Ok(match by {
        LookupBy::Key(key) => {
            admit(key)?;
            StorageKeySpace::postgres().lock(key).as_str().to_owned()
        }
        LookupBy::LockId(lock_id) => lock_id.as_str().to_owned(),
    })
}

fn judged(verb: Verb, rows: Vec<Row>) -> Result<Option<Found>> {
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let expires_at = Timestamp::from_millis(column(verb.name, &row, "expires_at_ms")?);
    let now = Timestamp::from_millis(column(verb.name, &row, "now_ms")?);
    let is_live = is_live(expires_at, now, TIME_TOLERANCE);
    Ok(Some(Found { row, is_live, over_for: now.saturating_since(expires_at) }))
}
