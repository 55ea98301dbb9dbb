//! Statements that depend on each other's effects but not on each other's answers: one transaction, one round trip.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use futures_util::future::{join_all, join3};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::attempts::{Attempts, Ended};
use crate::classify::{Failed, Phase};
use crate::loan::Loan;
use crate::{DatabaseError, Failure, Operation, Policy, Pool, Result, parameters_in};

/// The values of a statement's `$1`, `$2`, …, with their types.
pub type Values<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// One statement of a pipeline. The types of its values are named, because asking the server for them would cost a
/// round trip where statements cannot be prepared.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    sql: &'a str,
    values: Values<'a>,
}

impl<'a> Step<'a> {
    /// A statement with the values of its `$1`, `$2`, ….
    #[must_use]
    pub const fn new(sql: &'a str, values: Values<'a>) -> Self {
        Self { sql, values }
    }

    /// A statement with as many of the values as it names: those of a script have the same ones by the same numbers.
    #[must_use]
    pub fn taking(sql: &'a str, values: Values<'a>) -> Self {
        Self { sql, values: &values[..parameters_in(sql).min(values.len())] }
    }

    fn types(&self) -> Vec<Type> {
        self.values.iter().map(|(_, kind)| kind.clone()).collect()
    }
}

/// Statements sent together and committed together. Each sees what the ones before it did, and at READ COMMITTED
/// each has a snapshot of its own, taken when its turn comes.
///
/// A single statement on a connection of our own is sent alone; everything else travels between `BEGIN` and
/// `COMMIT`, which also names the isolation level where a pooler forgets the session's.
#[derive(Clone, Copy)]
pub struct Pipeline<'a> {
    operation: Operation,
    steps: &'a [Step<'a>],
    phase: Phase,
    /// Never between `BEGIN` and `COMMIT`.
    is_alone: bool,
}

impl<'a> Pipeline<'a> {
    /// Statements that change nothing: if their answer is lost, nothing is.
    #[must_use]
    pub const fn read(operation: Operation, steps: &'a [Step<'a>]) -> Self {
        Self { operation, steps, phase: Phase::Body, is_alone: false }
    }

    /// Statements that may change something: if their answer is lost, the outcome is unknown.
    #[must_use]
    pub const fn write(operation: Operation, steps: &'a [Step<'a>]) -> Self {
        Self { operation, steps, phase: Phase::Commit, is_alone: false }
    }

    /// A statement that changes nothing and is refused inside a transaction.
    #[must_use]
    pub(crate) const fn alone(operation: Operation, step: &'a [Step<'a>; 1]) -> Self {
        Self { operation, steps: step, phase: Phase::Body, is_alone: true }
    }

    /// Runs the statements and returns the rows of each.
    ///
    /// Dropping the call asks the server to stop; a write may have happened all the same.
    ///
    /// # Errors
    /// As [`run`](crate::run); [`Error::UnknownOutcome`](crate::Error::UnknownOutcome) for writes only.
    pub async fn query(self, pool: &Pool, policy: &Policy) -> Result<Vec<Vec<Row>>> {
        let attempts = Attempts::start(self.operation, policy);
        let work = async {
            loop {
                let loan = Loan::take(pool).await?;
                let answer = self.once(&loan, &attempts).await;
                // Every answer has come, the one to COMMIT too: no transaction is open.
                loan.give_back();
                match answer {
                    Ok(rows) => break Ok(rows),
                    Err(failed) => attempts.next(Ended::Failed(failed)).await?,
                }
            }
        };
        attempts.within_deadline(work).await.map_err(Failure::<Infallible>::into_error)
    }

    async fn once(&self, loan: &Loan, attempts: &Attempts<'_>) -> Result<Vec<Vec<Row>>, Failed> {
        let (session, pool) = (loan.session(), loan.pool());
        let mut prepared = Vec::new();
        if !pool.behind_pooler() {
            for step in self.steps {
                let statement = loan.answer(session.prepared_as(step.sql, &step.types())).await;
                prepared.push(statement.map_err(|error| Failed::new(error, Phase::Body, pool.dialect()))?);
            }
        }
        if session.is_closed() {
            return Err(Failed::connection_lost());
        }
        let rows = async |at: usize| {
            let step = &self.steps[at];
            match prepared.get(at).and_then(Option::as_ref) {
                Some(statement) => {
                    let values: Vec<_> = step.values.iter().map(|(value, _)| *value).collect();
                    session.query(statement, &values).await
                }
                None => session.query_typed(step.sql, step.values).await,
            }
        };
        attempts.commit_in_flight.store(self.phase == Phase::Commit, Ordering::Release);
        let answer = if self.is_alone || self.steps.len() == 1 && !pool.behind_pooler() {
            loan.answer(rows(0)).await.map(|rows| vec![rows]).map_err(|error| (error, self.phase))
        } else {
            let exchange = join3(
                session.batch_execute(pool.dialect().begin()),
                join_all((0..self.steps.len()).map(rows)),
                session.batch_execute("COMMIT"),
            );
            let answers = loan.answer(async { Ok(exchange.await) }).await;
            answers.map_err(|error| (error, self.phase)).and_then(|answers| self.settled(answers))
        };
        attempts.commit_in_flight.store(false, Ordering::Release);
        answer.map_err(|(error, phase)| {
            loan.forget_stale_plans(&error);
            Failed::new(error, phase, pool.dialect())
        })
    }

    /// The first failure in the order of sending is the cause of those behind it.
    fn settled(&self, (begun, rows, committed): Answers) -> Result<Vec<Vec<Row>>, (DatabaseError, Phase)> {
        // Without a transaction around them the statements behind a refused BEGIN committed one by one.
        begun.map_err(|error| (error.into(), self.phase))?;
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| {
            let error = DatabaseError::from(error);
            // A server that refused a statement rolls back at COMMIT; one that fell silent may have done either.
            let phase = if error.sqlstate().is_some() { Phase::Body } else { self.phase };
            (error, phase)
        })?;
        committed.map_err(|error| (error.into(), self.phase))?;
        Ok(rows)
    }
}

type Answers = (
    Result<(), tokio_postgres::Error>,
    Vec<Result<Vec<Row>, tokio_postgres::Error>>,
    Result<(), tokio_postgres::Error>,
);
