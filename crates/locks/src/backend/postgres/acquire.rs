//! One try for a key: one round trip, unless another one's try got in between.

use std::time::Duration;

use leasehold_core::postgres::admit;
use leasehold_core::{Fence, Key, StorageKey, StorageKeySpace, Timestamp, Ttl};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Result as TxnResult, Step, Values};

use super::errors::{column, error_of, unexpected};
use super::{Mode, PostgresBackend, operations};
use crate::{AcquireOutcome, AcquireRequest, Error, Grant, Result};

pub(in crate::backend) const OPERATION: &str = "acquire";

/// How often a lost race is looked at again. Whoever lost so often met as many holders on the way: "held" is true.
pub(in crate::backend) const TRIES_MAX: u32 = 4;

pub(super) async fn acquire(backend: &PostgresBackend, request: &AcquireRequest) -> Result<AcquireOutcome> {
    admit(&request.key)?;
    let (key, fence_key) = storage_keys(&request.key);
    let (key, fence_key, user_key) = (key.as_str(), fence_key.as_str(), request.key.as_str());
    let (lock_id, ttl_ms) = (request.lock_id.as_str(), millis(request.ttl));
    let advisory = backend.config.mode == Mode::Shared;
    let values: Values<'_> = &[
        (&key, Type::TEXT),
        (&fence_key, Type::TEXT),
        (&user_key, Type::TEXT),
        (&lock_id, Type::TEXT),
        (&ttl_ms, Type::INT8),
        (&advisory, Type::BOOL),
    ];
    for _ in 0..TRIES_MAX {
        let rows = decide(backend, values).await;
        // No row: another acquire won while this one waited, and the snapshot from before cannot tell whose.
        if let Some(row) = rows.map_err(|error| error_of(OPERATION, error))?.first() {
            let outcome = answer(row, request)?;
            if outcome.acquired().is_some() {
                backend.store.news.held();
            }
            return Ok(outcome);
        }
    }
    Ok(AcquireOutcome::Held { free_in: None })
}

/// By the function where the schema has it, else by the statement; in shared mode that follows SyncGuard's advisory lock.
async fn decide(backend: &PostgresBackend, values: Values<'_>) -> TxnResult<Vec<Row>> {
    let statements = &backend.statements;
    let call = &statements.call_acquire;
    if let Some(rows) = backend.functions.call(backend, operations::ACQUIRE, call, values).await? {
        return Ok(rows);
    }
    let values = &values[..5];
    match backend.config.mode {
        Mode::Exclusive => {
            let alone = [Step::new(&backend.store.statements.acquire, values)];
            backend.store.write(operations::ACQUIRE, &alone).await
        }
        Mode::Shared => {
            let advisory = Step::new(&statements.advisory, &values[..1]);
            let guarded = Step::new(&statements.acquire_guarded, values);
            backend.store.write(operations::ACQUIRE, &[advisory, guarded]).await
        }
    }
}

/// What a row says of this request.
pub(in crate::backend) fn answer(row: &Row, request: &AcquireRequest) -> Result<AcquireOutcome> {
    match column(OPERATION, row, "outcome")? {
        "acquired" => grant(row, request).map(AcquireOutcome::Acquired),
        "held" => Ok(AcquireOutcome::Held { free_in: free_in(row)? }),
        outcome => Err(refused(outcome)),
    }
}

/// The grant in a row of this request.
pub(in crate::backend) fn grant(row: &Row, request: &AcquireRequest) -> Result<Grant> {
    let foreign = |_| Error::Foreign { operation: OPERATION, key_hash: request.key.key_hash() };
    Ok(Grant {
        lock_id: request.lock_id,
        fence: Fence::parse(column(OPERATION, row, "fence")?).map_err(foreign)?,
        expires_at: Timestamp::from_millis(column(OPERATION, row, "expires_at_ms")?),
    })
}

/// How long the hold in a row goes on.
pub(super) fn free_in(row: &Row) -> Result<Option<Duration>> {
    let free_in_ms: i64 = column(OPERATION, row, "free_in_ms")?;
    Ok(Some(Duration::from_millis(u64::try_from(free_in_ms).unwrap_or(0))))
}

/// Why a row is neither a grant nor a refusal.
pub(super) fn refused(outcome: &str) -> Error {
    match outcome {
        "overflow" => Error::Invalid(leasehold_core::Error::FenceOverflow { limit: Fence::MAX.as_u64() }),
        other => unexpected(OPERATION, format!("the statement ended as {other}")),
    }
}

/// Where the lock and the counter of a key are kept.
pub(super) fn storage_keys(key: &Key) -> (StorageKey, StorageKey) {
    let space = StorageKeySpace::postgres();
    (space.lock(key), space.fence(key))
}

/// A ttl as PostgreSQL counts.
pub(in crate::backend) fn millis(ttl: Ttl) -> i64 {
    i64::try_from(ttl.as_millis()).expect("the longest ttl is below 2^53 ms")
}
