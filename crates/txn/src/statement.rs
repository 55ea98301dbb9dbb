//! A statement that is a transaction by itself: one round trip, the same loop.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use tokio_postgres::Row;

use crate::attempts::{Ended, Progress, until_settled};
use crate::classify::{Failed, Phase};
use crate::loan::Loan;
use crate::transaction::Parameters;
use crate::{DatabaseError, Failure, Operation, Policy, Pool, Result};

/// A lone statement, committed by the server as it ends.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    operation: Operation,
    sql: &'a str,
    effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Read,
    Write,
}

impl<'a> Statement<'a> {
    /// A statement that changes nothing: if its answer is lost, nothing is.
    #[must_use]
    pub const fn read(operation: Operation, sql: &'a str) -> Self {
        Self { operation, sql, effect: Effect::Read }
    }

    /// A statement that may change something: if its answer is lost, the outcome is unknown.
    #[must_use]
    pub const fn write(operation: Operation, sql: &'a str) -> Self {
        Self { operation, sql, effect: Effect::Write }
    }

    /// Runs the statement and returns its rows.
    ///
    /// Dropping the call asks the server to stop the statement; a write may have happened all the same.
    ///
    /// # Errors
    /// As [`run`](crate::run); [`Error::UnknownOutcome`](crate::Error::UnknownOutcome) for writes only.
    pub async fn query(self, pool: &Pool, policy: &Policy, parameters: Parameters<'_>) -> Result<Vec<Row>> {
        until_settled(self.operation, policy, async |progress| {
            let loan = Loan::take(pool).await.map_err(Ended::Error)?;
            let answer = self.prepared(&loan, progress, async |session, statement| {
                session.query(statement, parameters).await
            });
            let answer = answer.await;
            settled(loan, answer)
        })
        .await
        .map_err(Failure::<Infallible>::into_error)
    }

    /// Runs the statement and returns how many rows it touched.
    ///
    /// Dropping the call asks the server to stop the statement; a write may have happened all the same.
    ///
    /// # Errors
    /// As [`run`](crate::run); [`Error::UnknownOutcome`](crate::Error::UnknownOutcome) for writes only.
    pub async fn execute(self, pool: &Pool, policy: &Policy, parameters: Parameters<'_>) -> Result<u64> {
        until_settled(self.operation, policy, async |progress| {
            let loan = Loan::take(pool).await.map_err(Ended::Error)?;
            let answer = self.prepared(&loan, progress, async |session, statement| {
                session.execute(statement, parameters).await
            });
            let answer = answer.await;
            settled(loan, answer)
        })
        .await
        .map_err(Failure::<Infallible>::into_error)
    }

    async fn prepared<T>(
        &self,
        loan: &Loan,
        progress: &Progress,
        send: impl AsyncFn(
            &tokio_postgres::Client,
            &tokio_postgres::Statement,
        ) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Failed> {
        let session = loan.session();
        let dialect = loan.pool().dialect();
        let failed = |error: DatabaseError, phase| Failed::new(error, phase, dialect);
        let statement = loan
            .answer(session.prepare_cached(self.sql))
            .await
            .map_err(|error| failed(error, Phase::Body))?;
        if session.is_closed() {
            return Err(Failed::connection_lost());
        }
        let phase = match self.effect {
            Effect::Read => Phase::Body,
            Effect::Write => Phase::Commit,
        };
        progress.commit_in_flight.store(phase == Phase::Commit, Ordering::Release);
        let answer = loan.answer(send(session, &statement)).await;
        progress.commit_in_flight.store(false, Ordering::Release);
        answer.map_err(|error| failed(error, phase))
    }
}

/// No transaction stays open after a lone statement, so the connection goes back unless it is gone.
fn settled<T>(loan: Loan, answer: Result<T, Failed>) -> Result<T, Ended<Infallible>> {
    loan.give_back();
    answer.map_err(Ended::Failed)
}
