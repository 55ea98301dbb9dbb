//! Whether a key is held, and sweeping what is long over.

use leasehold_core::{Key, StorageKeySpace, TIME_TOLERANCE};
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Pipeline, Step, Values};

use super::found::{Verb, find, find_by_call};
use super::store::Store;
use super::{PostgresBackend, operations};
use crate::{LookupBy, Result};

const IS_LOCKED: Verb = Verb { name: "is_locked", operation: operations::IS_LOCKED };

/// By the function where the schema has it; cleans up if so configured.
pub(super) async fn is_locked_by_call(backend: &PostgresBackend, key: &Key) -> Result<bool> {
    let Some(found) = find_by_call(backend, IS_LOCKED, LookupBy::Key(key)).await? else { return Ok(false) };
    if !found.is_live && backend.config.cleanup_in_is_locked && found.over_for > 2 * TIME_TOLERANCE {
        clean_up(backend, StorageKeySpace::postgres().lock(key).as_str().to_owned());
    }
    Ok(found.is_live)
}

/// By the statement.
pub(in crate::backend) async fn is_locked(store: &Store, key: &Key) -> Result<bool> {
    Ok(find(store, IS_LOCKED, LookupBy::Key(key)).await?.is_some_and(|found| found.is_live))
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
