//! The handle a body works with: one transaction on one connection.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::future::{join_all, try_join_all};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::attempts::Ended;
use crate::classify::{Failed, Phase};
use crate::loan::Loan;
use crate::{DatabaseError, Pool, Result, Values};

/// The values of a statement's `$1`, `$2`, ….
pub type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Refused because of what happened before.
const FOLLOWS: &str = "25P02";

/// An open transaction. [`run`](crate::run) begins and ends it.
///
/// Statements are prepared once per connection. Futures of several statements that are polled together, as
/// `try_join!` does, travel together: the second does not wait for the first's answer. Dropping a statement's
/// future leaves the statement in the transaction.
///
/// A body must not send `BEGIN`, `COMMIT` or `ROLLBACK` of its own.
///
/// `'a` is how long what a body captures lives; the transaction itself holds nothing of it.
pub struct Transaction<'a> {
    loan: Loan,
    /// What first went wrong on the server. Everything after it is refused with `25P02`, which explains nothing.
    first_error: Mutex<Option<DatabaseError>>,
    /// Makes `&'t Transaction<'a>` imply that captured references outlive the body's future.
    captures: PhantomData<fn() -> &'a ()>,
}

impl Transaction<'_> {
    /// Begins. Dropped midway, the connection is rolled back in the background.
    pub(crate) async fn begin<E>(pool: &Pool) -> Result<Self, Ended<E>> {
        let loan = Loan::take(pool).await.map_err(Ended::Error)?;
        // Awaited, not sent along with the first statement: if it were refused, that statement would commit alone.
        match loan.session().batch_execute(pool.dialect().begin()).await {
            Ok(()) => Ok(Self { loan, first_error: Mutex::new(None), captures: PhantomData }),
            Err(error) => {
                loan.discard();
                Err(Ended::Failed(Failed::new(error.into(), Phase::Body, pool.dialect())))
            }
        }
    }

    /// Runs a statement and returns its rows.
    ///
    /// # Errors
    /// What the driver or the server said.
    pub async fn query(&self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, DatabaseError> {
        let session = self.loan.session();
        self.noted(
            self.loan
                .answer(async {
                    let statement = session.prepared(sql).await?;
                    session.query(&statement, parameters).await
                })
                .await,
        )
    }

    /// As [`query`](Self::query), unprepared: for transactions that also run behind a pooler, which forgets what is prepared.
    ///
    /// # Errors
    /// What the driver or the server said.
    pub async fn query_typed(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, DatabaseError> {
        self.noted(self.loan.answer(self.loan.session().query_typed(sql, values)).await)
    }

    /// Runs a statement that has one row or none.
    ///
    /// # Errors
    /// What the driver or the server said, or that there were more rows.
    pub async fn query_opt(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, DatabaseError> {
        let session = self.loan.session();
        self.noted(
            self.loan
                .answer(async {
                    let statement = session.prepared(sql).await?;
                    session.query_opt(&statement, parameters).await
                })
                .await,
        )
    }

    /// Runs a statement that has exactly one row.
    ///
    /// # Errors
    /// What the driver or the server said, or that there were fewer or more rows.
    pub async fn query_one(&self, sql: &str, parameters: Parameters<'_>) -> Result<Row, DatabaseError> {
        let session = self.loan.session();
        self.noted(
            self.loan
                .answer(async {
                    let statement = session.prepared(sql).await?;
                    session.query_one(&statement, parameters).await
                })
                .await,
        )
    }

    /// Runs a statement and returns how many rows it touched.
    ///
    /// # Errors
    /// What the driver or the server said.
    pub async fn execute(&self, sql: &str, parameters: Parameters<'_>) -> Result<u64, DatabaseError> {
        let session = self.loan.session();
        self.noted(
            self.loan
                .answer(async {
                    let statement = session.prepared(sql).await?;
                    session.execute(&statement, parameters).await
                })
                .await,
        )
    }

    /// Runs statements that do not depend on each other's answers, in order and in one round trip (two on a connection that
    /// has to prepare some of them); how many rows each touched.
    ///
    /// # Errors
    /// The first failure, once all are answered: the one that made the others fail may be the last to be looked at.
    pub async fn execute_all(
        &self,
        statements: &[(&str, Parameters<'_>)],
    ) -> Result<Vec<u64>, DatabaseError> {
        let session = self.loan.session();
        // All before the first is sent: one that still has to be prepared would be overtaken by those that are.
        let prepared = try_join_all(statements.iter().map(|(sql, _)| session.prepared(sql)));
        let prepared = self.noted(self.loan.answer(prepared).await)?;
        let answers = join_all(prepared.iter().zip(statements).map(async |(statement, (_, parameters))| {
            self.noted(self.loan.answer(session.execute(statement, parameters)).await)
        }));
        answers.await.into_iter().collect()
    }

    /// Runs statements without parameters, separated by semicolons. Not prepared, not cached.
    ///
    /// # Errors
    /// What the driver or the server said.
    pub async fn batch_execute(&self, sql: &str) -> Result<(), DatabaseError> {
        self.noted(self.loan.answer(self.loan.session().batch_execute(sql)).await)
    }

    /// Keeps the first error that ends the transaction on the server; a parameter that does not convert does not. Of
    /// statements that travel together one that was refused for another's failure may be looked at before that other.
    fn noted<T>(&self, answer: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
        if let Err(error) = &answer
            && (error.sqlstate().is_some() || error.is_disconnect())
        {
            let mut first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| first.sqlstate() == Some(FOLLOWS)) {
                *first = Some(error.clone());
            }
        }
        answer
    }

    fn first_error(&self) -> Option<DatabaseError> {
        self.first_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `error` means, or the error that it only follows from.
    fn failed(&self, error: DatabaseError, phase: Phase) -> Failed {
        let root = match error.sqlstate() {
            Some(FOLLOWS) => self.first_error().unwrap_or(error),
            _ => error,
        };
        Failed::new(root, phase, self.loan.pool().dialect())
    }

    /// Ends the transaction without effect because the body met this error.
    pub(crate) async fn abort(self, error: DatabaseError) -> Failed {
        let failed = self.failed(error, Phase::Body);
        self.loan.roll_back().await;
        failed
    }

    /// Ends the transaction without effect.
    pub(crate) async fn roll_back(self) {
        self.loan.roll_back().await;
    }

    /// Commits. `in_flight` is set while `COMMIT` may have been sent and its answer has not been seen; a caller
    /// that stops waiting then does not know the outcome.
    pub(crate) async fn commit(self, in_flight: &AtomicBool) -> Result<(), Failed> {
        // A server answers COMMIT of a failed transaction with ROLLBACK, and the driver does not tell the two
        // apart. Where a body swallowed an error, or did not wait for an answer, a statement before it tells.
        if (self.first_error().is_some() || self.loan.has_unanswered())
            && let Err(error) = self.loan.answer(self.loan.session().batch_execute("SELECT 1")).await
        {
            self.loan.all_answered();
            return Err(self.abort(error).await);
        }
        if self.loan.session().is_closed() {
            self.loan.discard();
            return Err(Failed::connection_lost());
        }
        // Nobody may have the statement cancelled from here on: it is no longer the body's.
        self.loan.all_answered();
        in_flight.store(true, Ordering::Release);
        let answer = self.loan.session().batch_execute("COMMIT").await;
        in_flight.store(false, Ordering::Release);
        match answer {
            Ok(()) => {
                self.loan.give_back();
                Ok(())
            }
            Err(error) => {
                let failed = Failed::new(error.into(), Phase::Commit, self.loan.pool().dialect());
                // The server that refused a COMMIT has ended the transaction; one that did not answer has not.
                if failed.source.as_ref().is_some_and(|source| source.sqlstate().is_some()) {
                    self.loan.give_back();
                } else {
                    self.loan.discard();
                }
                Err(failed)
            }
        }
    }
}

impl std::fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction").field("first_error", &self.first_error()).finish_non_exhaustive()
    }
}
