//! One try for a key: one statement if it is free, a second one to tell why not.

use leasehold_core::StorageKeySpace;
use leasehold_core::postgres::admit;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Error as TxnError, Step, Values};

use super::super::postgres::acquire::{OPERATION, TRIES_MAX, answer, millis};
use super::super::postgres::errors::{column, error_of};
use super::super::postgres::operations;
use super::super::postgres::used_id::UsedId;
use super::DsqlBackend;
use crate::{AcquireOutcome, AcquireRequest, Result};

pub(super) async fn acquire(backend: &DsqlBackend, request: &AcquireRequest) -> Result<AcquireOutcome> {
    admit(&request.key)?;
    let key = StorageKeySpace::postgres().lock(&request.key);
    let (key, user_key, lock_id) = (key.as_str(), request.key.as_str(), request.lock_id.as_str());
    let ttl_ms = millis(request.ttl);
    let values: Values<'_> =
        &[(&key, Type::TEXT), (&user_key, Type::TEXT), (&lock_id, Type::TEXT), (&ttl_ms, Type::INT8)];
    let asked: Values<'_> = &[(&key, Type::TEXT), (&lock_id, Type::TEXT)];
    let store = &backend.store;
    let mut used_id = UsedId::new(store, request, key);
    for _ in 0..TRIES_MAX {
        let taken =
            match store.write(operations::ACQUIRE, &[Step::new(&store.statements.acquire, values)]).await {
                Err(error) if lost_to_holders(&error) => break,
                Err(error) => {
                    used_id.after(error_of(OPERATION, error)).await?;
                    continue;
                }
                Ok(taken) => taken,
            };
        if let Some(row) = taken.first() {
            return answer(row, request);
        }
        let held = store.read(operations::ACQUIRE, &[Step::new(&backend.statements.held, asked)]).await;
        let held = held.map_err(|error| error_of(OPERATION, error))?;
        if let Some(row) = held.first()
            && column::<&str>(OPERATION, row, "outcome")? != "free"
        {
            return answer(row, request);
        }
    }
    Ok(AcquireOutcome::Held { free_in: None })
}

/// Whether every attempt lost its row to another one's write. Whoever writes there takes, keeps or ends a hold, so the key
/// was held at each of those moments. A changed schema says nothing of the kind.
fn lost_to_holders(error: &TxnError) -> bool {
    matches!(error, TxnError::ConflictExhausted { source, .. } if !source.is_schema_conflict())
}
