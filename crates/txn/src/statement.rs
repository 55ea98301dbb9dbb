//! A statement that is a transaction by itself: one round trip, the same loop.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::Ordering;

use futures_util::TryStreamExt;
use tokio_postgres::Row;

use crate::attempts::{Attempts, Ended};
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
        self.answer(pool, policy, parameters).await.map(|(rows, _)| rows)
    }

    /// Runs the statement and returns how many rows it touched.
    ///
    /// Dropping the call asks the server to stop the statement; a write may have happened all the same.
    ///
    /// # Errors
    /// As [`run`](crate::run); [`Error::UnknownOutcome`](crate::Error::UnknownOutcome) for writes only.
    pub async fn execute(self, pool: &Pool, policy: &Policy, parameters: Parameters<'_>) -> Result<u64> {
        self.answer(pool, policy, parameters).await.map(|(_, touched)| touched)
    }

    async fn answer(
        self,
        pool: &Pool,
        policy: &Policy,
        parameters: Parameters<'_>,
    ) -> Result<(Vec<Row>, u64)> {
        let attempts = Attempts::start(self.operation, policy);
        let work = async {
            loop {
                let loan = Loan::take(pool).await?;
                let answer = self.once(&loan, &attempts, parameters).await;
                // No transaction stays open after a lone statement: the connection goes back as it is.
                loan.give_back();
                match answer {
                    Ok(answer) => break Ok(answer),
                    Err(failed) => attempts.next(Ended::Failed(failed)).await?,
                }
            }
        };
        attempts.within_deadline(pool, pin!(work)).await.map_err(Failure::<Infallible>::into_error)
    }

    async fn once(
        &self,
        loan: &Loan,
        attempts: &Attempts<'_>,
        parameters: Parameters<'_>,
    ) -> Result<(Vec<Row>, u64), Failed> {
        let session = loan.session();
        let failed = |error: DatabaseError, phase| Failed::new(error, phase, loan.pool().dialect());
        let statement =
            loan.answer(session.prepared(self.sql)).await.map_err(|error| failed(error, Phase::Body))?;
        if session.is_closed() {
            return Err(Failed::connection_lost());
        }
        let phase = match self.effect {
            Effect::Read => Phase::Body,
            Effect::Write => Phase::Commit,
        };
        attempts.commit_in_flight.store(phase == Phase::Commit, Ordering::Release);
        let answer = loan
            .answer(async {
                let mut stream = pin!(session.query_raw(&statement, parameters.iter().copied()).await?);
                let mut rows = Vec::new();
                while let Some(row) = stream.try_next().await? {
                    rows.push(row);
                }
                Ok((rows, stream.rows_affected().unwrap_or_default()))
            })
            .await;
        attempts.commit_in_flight.store(false, Ordering::Release);
        answer.map_err(|error| failed(error, phase))
    }
}
