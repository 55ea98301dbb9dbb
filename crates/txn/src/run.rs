//! `run`: a body, a transaction around it, and an answer that is true.

use std::future::Future;
use std::pin::{Pin, pin};

use crate::attempts::{Attempts, Ended};
use crate::transaction::Transaction;
use crate::{DatabaseError, Error, Operation, Policy, Pool, Result};

/// How a body ends its transaction without effect.
#[derive(Debug)]
pub enum Abort<E> {
    /// What the body was to depend on does not hold: an answer, never retried.
    Condition(E),
    /// A statement failed. `?` on a statement makes this.
    Database(DatabaseError),
}

impl<E> From<DatabaseError> for Abort<E> {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl<E> From<tokio_postgres::Error> for Abort<E> {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(error.into())
    }
}

/// Why [`run`] has no value to return.
#[derive(Debug, thiserror::Error)]
pub enum Failure<E> {
    /// The body's own answer; nothing was committed.
    #[error("a condition does not hold")]
    Condition(E),
    /// The transaction failed.
    #[error(transparent)]
    Transaction(#[from] Error),
}

impl<E> Failure<E> {
    /// Turns both sides into the caller's own error.
    pub fn merge<F: From<E> + From<Error>>(self) -> F {
        match self {
            Self::Condition(condition) => condition.into(),
            Self::Transaction(error) => error.into(),
        }
    }
}

impl Failure<std::convert::Infallible> {
    /// The transaction's error, for a body that has no condition.
    #[must_use]
    pub fn into_error(self) -> Error {
        match self {
            Self::Condition(never) => match never {},
            Self::Transaction(error) => error,
        }
    }
}

/// What a body is while it runs.
pub type Running<'t, T, E> = Pin<Box<dyn Future<Output = Result<T, Abort<E>>> + Send + 't>>;

/// Runs `body` in a transaction and commits it.
///
/// The body, `|tx| Box::pin(async move { … })`, runs once per attempt, each time in a fresh transaction; only
/// conflicts, which had no effect, lead to another attempt. So it must not change anything outside the database nor
/// keep values from an earlier run, and an id it needs is made before. What it uses it borrows: everything that
/// lives as long as `'a` may be captured by reference. It ends the transaction without effect by returning
/// [`Abort`].
///
/// Dropping the call before `COMMIT` is sent leaves nothing behind: the connection is rolled back in the
/// background, or closed. Dropping it while `COMMIT` is in flight leaves open whether it happened; a deadline in
/// the policy does the same but says so.
///
/// # Errors
/// [`Failure::Condition`] with the body's answer, or [`Failure::Transaction`]. Among those only
/// [`Error::UnknownOutcome`] leaves open whether the transaction was committed.
pub async fn run<'a, T, E, F>(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    body: F,
) -> Result<T, Failure<E>>
where
    F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, E>,
{
    let attempts = Attempts::start(operation, policy);
    let work = async {
        loop {
            match once(pool, &attempts, &body).await {
                Ok(value) => break Ok(value),
                Err(ended) => attempts.next(ended).await?,
            }
        }
    };
    attempts.within_deadline(pool, pin!(work)).await
}

async fn once<'a, T, E, F>(pool: &Pool, attempts: &Attempts<'_>, body: &F) -> Result<T, Ended<E>>
where
    F: for<'t> Fn(&'t Transaction<'a>) -> Running<'t, T, E>,
{
    let transaction = Transaction::begin(pool).await?;
    match body(&transaction).await {
        Ok(value) => {
            transaction.commit(&attempts.commit_in_flight).await.map_err(Ended::Failed)?;
            Ok(value)
        }
        Err(Abort::Condition(condition)) => {
            transaction.roll_back().await;
            Err(Ended::Condition(condition))
        }
        Err(Abort::Database(error)) => Err(Ended::Failed(transaction.abort(error).await)),
    }
}
