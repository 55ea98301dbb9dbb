//! One try for a key: one round trip, unless another one's try got in between.

use std::time::Duration;

use leasehold_core::postgres::admit;
use leasehold_core::{Fence, Key, StorageKey, StorageKeySpace, Timestamp, Ttl};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Result as TxnResult, Step, Values};

use super::errors::{column, error_of, number, told, unexpected};
use super::used_id::UsedId;
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
    let mut used_id = UsedId::new(&backend.store, request, key);
    for _ in 0..TRIES_MAX {
        let decided = match decide(backend, request, values).await {
            Err(error) => {
                used_id.after(error).await?;
                continue;
            }
            decided => decided?,
        };
        // Nothing: another acquire won while this one waited, and the snapshot from before cannot tell whose.
        if let Some(outcome) = decided {
            if outcome.acquired().is_some() {
                backend.store.news.held();
            }
            return Ok(outcome);
        }
    }
    Ok(AcquireOutcome::Held { free_in: None })
}

/// By the function where the schema has it, else by the statement.
async fn decide(
    backend: &PostgresBackend,
    request: &AcquireRequest,
    values: Values<'_>,
) -> Result<Option<AcquireOutcome>> {
    let call = &backend.statements.call_acquire;
    let called = backend.functions.call(backend, operations::ACQUIRE, call, values).await;
    if let Some(rows) = called.map_err(|error| error_of(OPERATION, error))? {
        return told(OPERATION, &rows)?.map(|told| outcome_of_call(told, request)).transpose();
    }
    let rows = by_statement(backend, &values[..5]).await.map_err(|error| error_of(OPERATION, error))?;
    rows.first().map(|row| answer(row, request)).transpose()
}

/// In shared mode the statement follows SyncGuard's advisory lock.
async fn by_statement(backend: &PostgresBackend, values: Values<'_>) -> TxnResult<Vec<Row>> {
    match backend.config.mode {
        Mode::Exclusive => {
            let alone = [Step::new(&backend.store.statements.acquire, values)];
            backend.store.write(operations::ACQUIRE, &alone).await
        }
        Mode::Shared => {
            let advisory = Step::new(&backend.statements.advisory, &values[..1]);
            let guarded = Step::new(&backend.statements.acquire_guarded, values);
            backend.store.write(operations::ACQUIRE, &[advisory, guarded]).await
        }
    }
}

/// What the function says of this request.
pub(super) fn outcome_of_call(told: &str, request: &AcquireRequest) -> Result<AcquireOutcome> {
    let (outcome, rest) = told.split_once(' ').unwrap_or((told, ""));
    match (outcome, rest.split_once(' ')) {
        ("acquired", Some((expires_at, fence))) => {
            let grant = granted(request, fence, number(OPERATION, expires_at)?)?;
            Ok(AcquireOutcome::Acquired(grant))
        }
        ("held", None) => Ok(AcquireOutcome::Held { free_in: Some(duration(number(OPERATION, rest)?)) }),
        (outcome, _) => Err(refused(outcome)),
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
    granted(request, column(OPERATION, row, "fence")?, column(OPERATION, row, "expires_at_ms")?)
}

fn granted(request: &AcquireRequest, fence: &str, expires_at_ms: i64) -> Result<Grant> {
    let foreign = |_| Error::Foreign { operation: OPERATION, key_hash: request.key.key_hash() };
    Ok(Grant {
        lock_id: request.lock_id,
        fence: Fence::parse(fence).map_err(foreign)?,
        expires_at: Timestamp::from_millis(expires_at_ms),
    })
}

/// How long the hold in a row goes on.
pub(super) fn free_in(row: &Row) -> Result<Option<Duration>> {
    Ok(Some(duration(column(OPERATION, row, "free_in_ms")?)))
}

fn duration(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
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

#[cfg(test)]
mod tests {
    use leasehold_core::LockId;

    use super::*;

    fn outcome(told: &str) -> Result<AcquireOutcome> {
        let lock_id = LockId::generate().expect("random bytes");
        let key = Key::parse("billing").expect("a key");
        outcome_of_call(told, &AcquireRequest { key, lock_id, ttl: Ttl::DEFAULT })
    }

    #[test]
    fn answers_of_the_function_are_read() {
        let grant =
            outcome("acquired 1700000000000 000000000000007").expect("reads").acquired().expect("ours");
        assert_eq!((grant.fence.as_u64(), grant.expires_at), (7, Timestamp::from_millis(1_700_000_000_000)));
        let held = outcome("held 1500").expect("reads");
        assert_eq!(held, AcquireOutcome::Held { free_in: Some(Duration::from_millis(1_500)) });
        assert_eq!(outcome("overflow").expect_err("no fence").code(), "fence.overflow");
    }

    #[test]
    fn answers_that_no_function_gives_are_errors() {
        assert_eq!(outcome("acquired 1700000000000 no fence").expect_err("odd").code(), "lock.foreign_entry");
        for odd in ["", "acquired", "acquired 1", "held", "held soon", "acquired soon 000000000000007"] {
            assert_eq!(
                outcome(odd).expect_err(odd).lock_code(),
                leasehold_core::LockCode::Internal,
                "{odd:?}"
            );
        }
    }
}
