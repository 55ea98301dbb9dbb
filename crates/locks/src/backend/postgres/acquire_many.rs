//! Many keys in one round trip, each at most once.

use std::collections::{HashMap, HashSet};

use leasehold_core::postgres::admit;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Result as TxnResult, Step, Values};

use super::acquire::{OPERATION, free_in, grant, refused};
use super::asked::Asked;
use super::errors::{column, error_of, is_taken};
use super::{Mode, PostgresBackend, acquire, operations};
use crate::{AcquireOutcome, AcquireRequest, Result};

pub(super) async fn acquire_many(
    backend: &PostgresBackend,
    requests: &[AcquireRequest],
) -> Result<Vec<Result<AcquireOutcome>>> {
    let together = Together::of(requests);
    let answers = match in_one_statement(backend, &together.requests).await {
        // Somebody's lock id was used before, and nothing was written: alone, each learns whether it is the one.
        Err(error) if is_taken(&error) => Vec::new(),
        answers => answers?,
    };
    Ok(together.completed(backend, requests, answers).await)
}

/// The requests that one statement can hold, and their places among all.
pub(super) struct Together<'a> {
    pub(super) requests: Vec<&'a AcquireRequest>,
    places: Vec<usize>,
}

/// By their place among those that go together; `None` for one that lost its race.
pub(super) type Answers = Vec<Option<Result<AcquireOutcome>>>;

impl<'a> Together<'a> {
    /// Each key and each lock id once.
    pub(super) fn of(requests: &'a [AcquireRequest]) -> Self {
        let (mut keys, mut lock_ids) = (HashSet::new(), HashSet::new());
        let fit = requests.iter().enumerate().filter(|(_, request)| {
            admit(&request.key).is_ok()
                && !keys.contains(&request.key)
                && lock_ids.insert(request.lock_id)
                && keys.insert(&request.key)
        });
        let (places, requests) = fit.unzip();
        Together { requests, places }
    }

    /// The answers in the order of all requests. Who has none lost its race, came second for its key or with its id, or has
    /// a key that cannot be: each is for the single statement.
    pub(super) async fn completed(
        &self,
        backend: &PostgresBackend,
        requests: &[AcquireRequest],
        answers: Answers,
    ) -> Vec<Result<AcquireOutcome>> {
        let mut outcomes: Answers = requests.iter().map(|_| None).collect();
        for (place, answer) in self.places.iter().zip(answers) {
            outcomes[*place] = answer;
        }
        let mut completed = Vec::with_capacity(requests.len());
        for (request, outcome) in requests.iter().zip(outcomes) {
            completed.push(match outcome {
                Some(outcome) => outcome,
                None => acquire::acquire(backend, request).await,
            });
        }
        completed
    }
}

async fn in_one_statement(backend: &PostgresBackend, requests: &[&AcquireRequest]) -> Result<Answers> {
    let asked = Asked::of(requests, backend.config.mode);
    let rows = decide(backend, &asked.values()).await.map_err(|error| error_of(OPERATION, error))?;
    let mut by_key = HashMap::with_capacity(rows.len());
    for row in &rows {
        by_key.insert(column::<&str>(OPERATION, row, "key")?, row);
    }
    let answered = asked.keys().iter().zip(requests);
    let answered = answered.map(|(key, request)| Some(answer(by_key.get(key.as_str())?, request)));
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
