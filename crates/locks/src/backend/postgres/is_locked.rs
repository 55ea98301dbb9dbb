//! Whether a key is held, and sweeping what is long over.

use std::time::Duration;

use leasehold_core::postgres::admit;
use leasehold_core::{Key, StorageKeySpace, TIME_TOLERANCE, Timestamp, is_live};
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Pipeline, Step, Values};

use super::errors::{column, error_of};
use super::store::Store;
use super::{PostgresBackend, operations};
use crate::Result;

const OPERATION: &str = "is_locked";

/// When the hold of the key ended or ends, and whether it is live.
#[derive(Debug, Clone, Copy)]
pub(in crate::backend) struct Held {
    pub(in crate::backend) is_live: bool,
    over_for: Duration,
}

pub(super) async fn is_locked(backend: &PostgresBackend, key: &Key) -> Result<bool> {
    let Some(held) = look(&backend.store, key).await? else { return Ok(false) };
    if !held.is_live && backend.config.cleanup_in_is_locked && held.over_for > 2 * TIME_TOLERANCE {
        clean_up(backend, StorageKeySpace::postgres().lock(key).as_str().to_owned());
    }
    Ok(held.is_live)
}

/// The row of the key, if it has one.
pub(in crate::backend) async fn look(store: &Store, key: &Key) -> Result<Option<Held>> {
    admit(key)?;
    let storage_key = StorageKeySpace::postgres().lock(key);
    let storage_key = storage_key.as_str();
    let values: Values<'_> = &[(&storage_key, Type::TEXT)];
    let steps = [Step::new(&store.statements.is_locked, values)];
    let rows = store.read(operations::IS_LOCKED, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    let Some(row) = rows.first() else { return Ok(None) };
    let expires_at = Timestamp::from_millis(column(OPERATION, row, "expires_at_ms")?);
    let now = Timestamp::from_millis(column(OPERATION, row, "now_ms")?);
    let is_live = is_live(expires_at, now, TIME_TOLERANCE);
    Ok(Some(Held { is_live, over_for: now.saturating_since(expires_at) }))
}

/// In the background and best effort: the answer does not depend on it, and the statement judges again.
fn clean_up(backend: &PostgresBackend, key: String) {
    let (pool, policy, statements) =
        (backend.store.pool.clone(), backend.store.policy(), backend.statements.clone());
    backend.background.spawn(async move {
        let values: Values<'_> = &[(&key, Type::TEXT)];
        let steps = [Step::new(&statements.cleanup, values)];
        if let Err(error) = Pipeline::write(operations::CLEANUP, &steps).query(&pool, &policy).await {
            tracing::debug!(code = error.code(), "cleaning up after an expired hold failed");
        }
    });
}
