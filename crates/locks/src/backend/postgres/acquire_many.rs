//! Many keys in one round trip, each at most once.

use std::collections::{HashMap, HashSet};

use leasehold_core::LockId;
use leasehold_core::postgres::admit;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Result as TxnResult, Step, Values};

use super::acquire::{OPERATION, free_in, grant, millis, refused, storage_keys};
use super::errors::{column, error_of};
use super::{Mode, PostgresBackend, acquire, operations};
use crate::{AcquireOutcome, AcquireRequest, Result};

pub(super) async fn acquire_many(
    backend: &PostgresBackend,
    requests: &[AcquireRequest],
) -> Result<Vec<Result<AcquireOutcome>>> {
    let mut seen = HashSet::with_capacity(requests.len());
    let together: Vec<&AcquireRequest> =
        requests.iter().filter(|request| admit(&request.key).is_ok() && seen.insert(&request.key)).collect();
    let mut answers = in_one_statement(backend, &together).await?;
    let mut outcomes = Vec::with_capacity(requests.len());
    for request in requests {
        outcomes.push(match answers.remove(&request.lock_id) {
            Some(answer) => answer,
            // Lost its race, came second for its key, or has a key that cannot be: each is for the single statement.
            None => acquire::acquire(backend, request).await,
        });
    }
    Ok(outcomes)
}

async fn in_one_statement(
    backend: &PostgresBackend,
    requests: &[&AcquireRequest],
) -> Result<HashMap<LockId, Result<AcquireOutcome>>> {
    let storage_keys: Vec<_> = requests.iter().map(|request| storage_keys(&request.key)).collect();
    let keys: Vec<&str> = storage_keys.iter().map(|(key, _)| key.as_str()).collect();
    let fence_keys: Vec<&str> = storage_keys.iter().map(|(_, fence_key)| fence_key.as_str()).collect();
    let user_keys: Vec<&str> = requests.iter().map(|request| request.key.as_str()).collect();
    let lock_ids: Vec<&str> = requests.iter().map(|request| request.lock_id.as_str()).collect();
    let ttls: Vec<i64> = requests.iter().map(|request| millis(request.ttl)).collect();
    let advisory = backend.config.mode == Mode::Shared;
    let values = [
        (&keys as _, Type::TEXT_ARRAY),
        (&fence_keys as _, Type::TEXT_ARRAY),
        (&user_keys as _, Type::TEXT_ARRAY),
        (&lock_ids as _, Type::TEXT_ARRAY),
        (&ttls as _, Type::INT8_ARRAY),
        (&advisory as _, Type::BOOL),
    ];
    let rows = decide(backend, &values).await.map_err(|error| error_of(OPERATION, error))?;
    let mut by_key = HashMap::with_capacity(rows.len());
    for row in &rows {
        by_key.insert(column::<&str>(OPERATION, row, "key")?, row);
    }
    let answered = keys.iter().zip(requests).filter_map(|(key, request)| {
        let row = by_key.get(key)?;
        Some((request.lock_id, answer(row, request)))
    });
    backend.store.news.held();
    Ok(answered.collect())
}

/// By the function where the schema has it, else by the statement; in shared mode that follows SyncGuard's advisory locks.
async fn decide(backend: &PostgresBackend, values: Values<'_>) -> TxnResult<Vec<Row>> {
    let statements = &backend.statements;
    let call = &statements.call_acquire_many;
    if let Some(rows) = backend.functions.call(backend, operations::ACQUIRE_MANY, call, values).await? {
        return Ok(rows);
    }
    let values = &values[..5];
    match backend.config.mode {
        Mode::Exclusive => {
            let alone = [Step::new(&statements.acquire_many, values)];
            backend.store.write(operations::ACQUIRE_MANY, &alone).await
        }
        Mode::Shared => {
            let advisory = Step::new(&statements.advisory_many, &values[..1]);
            let guarded = Step::new(&statements.acquire_many_guarded, values);
            backend.store.write(operations::ACQUIRE_MANY, &[advisory, guarded]).await
        }
    }
}

fn answer(row: &Row, request: &AcquireRequest) -> Result<AcquireOutcome> {
    let ours = column::<&str>(OPERATION, row, "lock_id")? == request.lock_id.as_str();
    match column(OPERATION, row, "outcome")? {
        "acquired" => grant(row, request).map(AcquireOutcome::Acquired),
        // A repeated request finds its own hold.
        "held" if ours => grant(row, request).map(AcquireOutcome::Acquired),
        "held" => Ok(AcquireOutcome::Held { free_in: free_in(row)? }),
        outcome => Err(refused(outcome)),
    }
}
