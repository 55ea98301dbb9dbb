//! `run`: a body, a transaction around it, and an answer that is true.

use crate::attempts::{Ended, until_settled};
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

/// Runs `body` in a transaction and commits it.
///
/// The body runs once per attempt, each time in a fresh transaction; only conflicts, which had no effect, lead to
/// another attempt. So it must not change anything outside the database nor keep values from an earlier run, and
/// an id it needs is made before. It ends the transaction without effect by returning [`Abort`].
///
/// Dropping the call before `COMMIT` is sent leaves nothing behind: the connection is rolled back in the
/// background, or closed. Dropping it while `COMMIT` is in flight leaves open whether it happened; a deadline in
/// the policy does the same but says so.
///
/// # Errors
/// [`Failure::Condition`] with the body's answer, or [`Failure::Transaction`]. Among those only
/// [`Error::UnknownOutcome`] leaves open whether the transaction was committed.
pub async fn run<T, E, F>(
    pool: &Pool,
    operation: Operation,
    policy: &Policy,
    body: F,
) -> Result<T, Failure<E>>
where
    F: AsyncFn(&Transaction) -> Result<T, Abort<E>>,
{
    until_settled(operation, policy, async |progress| {
        let transaction = Transaction::begin(pool).await.map_err(Ended::Error)?.map_err(Ended::Failed)?;
        match body(&transaction).await {
            Ok(value) => {
                transaction.commit(&progress.commit_in_flight).await.map_err(Ended::Failed)?;
                Ok(value)
            }
            Err(Abort::Condition(condition)) => {
                transaction.roll_back().await;
                Err(Ended::Condition(condition))
            }
            Err(Abort::Database(error)) => Err(Ended::Failed(transaction.abort(error).await)),
        }
    })
    .await
}
