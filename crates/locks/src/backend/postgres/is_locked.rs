//! Whether a key is held, and sweeping what is long over.

use leasehold_core::postgres::admit;
use leasehold_core::{Key, StorageKeySpace, TIME_TOLERANCE, Timestamp, is_live};
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Pipeline, Step, Values};

use super::errors::{column, error_of};
use super::{PostgresBackend, operations};
use crate::Result;

const OPERATION: &str = "is_locked";

pub(super) async fn is_locked(backend: &PostgresBackend, key: &Key) -> Result<bool> {
    admit(key)?;
    let storage_key = StorageKeySpace::postgres().lock(key);
    let storage_key = storage_key.as_str();
    let values: Values<'_> = &[(&storage_key, Type::TEXT)];
    let steps = [Step::new(&backend.statements.is_locked, values)];
    let rows =
        backend.read(operations::IS_LOCKED, &steps).await.map_err(|error| error_of(OPERATION, error))?;
    let Some(row) = rows.first() else { return Ok(false) };
    let expires_at = Timestamp::from_millis(column(OPERATION, row, "expires_at_ms")?);
    let now = Timestamp::from_millis(column(OPERATION, row, "now_ms")?);
    if is_live(expires_at, now, TIME_TOLERANCE) {
        return Ok(true);
    }
    if backend.config.cleanup_in_is_locked && now.saturating_since(expires_at) > 2 * TIME_TOLERANCE {
        clean_up(backend, storage_key.to_owned());
    }
    Ok(false)
}

/// In the background and best effort: the answer does not depend on it, and the statement judges again.
fn clean_up(backend: &PostgresBackend, key: String) {
    let (pool, policy, statements) = (backend.pool.clone(), backend.policy(), backend.statements.clone());
    backend.background.spawn(async move {
        let values: Values<'_> = &[(&key, Type::TEXT)];
        let steps = [Step::new(&statements.cleanup, values)];
        if let Err(error) = Pipeline::write(operations::CLEANUP, &steps).query(&pool, &policy).await {
            tracing::debug!(code = error.code(), "cleaning up after an expired hold failed");
        }
    });
}
