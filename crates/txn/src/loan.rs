//! A connection on loan, which finds its way home in order whatever happens to its user.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::pool::{Session, rolled_back};
use crate::{DatabaseError, Pool, Result};

/// A connection in use. Given back by name when it is known to be outside any transaction; dropped otherwise,
/// by an error, a panic or a cancelled call, which leaves it to the pool to put in order.
pub(crate) struct Loan {
    /// `None` once it has been given back.
    session: Option<Session>,
    pool: Pool,
    /// Statements sent whose answer nobody has seen. One that was dropped midway counts for ever.
    unanswered: AtomicU32,
}

impl Loan {
    pub(crate) async fn take(pool: &Pool) -> Result<Self> {
        let session = pool.session().await?;
        Ok(Self { session: Some(session), pool: pool.clone(), unanswered: AtomicU32::new(0) })
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn session(&self) -> &Session {
        self.session.as_ref().expect("a loan keeps its session until it is consumed")
    }

    pub(crate) fn has_unanswered(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) > 0
    }

    /// Answers come in order: after one, everything sent before it is settled.
    pub(crate) fn all_answered(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Waits for an answer. Dropped midway, it stays on record that the server may be busy.
    pub(crate) async fn answer<T>(
        &self,
        statement: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, DatabaseError> {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        let answer = statement.await;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        answer.map_err(|error| {
            let error = DatabaseError::from(error);
            self.forget_stale_plans(&error);
            error
        })
    }

    /// A table changed under its prepared statements: they are made anew.
    pub(crate) fn forget_stale_plans(&self, error: &DatabaseError) {
        if error.is_stale_plan() {
            self.session().forget_prepared();
        }
    }

    /// The connection is outside any transaction: the next user may have it.
    pub(crate) fn give_back(mut self) {
        drop(self.session.take());
    }

    /// The connection is not worth keeping.
    pub(crate) fn discard(mut self) {
        if let Some(session) = self.session.take() {
            drop(Session::take(session));
        }
    }

    /// Ends the transaction without effect, then gives the connection back, or closes it.
    pub(crate) async fn roll_back(self) {
        if self.session().is_closed() {
            self.discard();
        } else if self.has_unanswered() {
            // Rolling back would wait for a statement that nobody waits for: dropping has it stopped.
            drop(self);
        } else if rolled_back(self.session()).await {
            self.give_back();
        } else {
            self.discard();
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.pool.put_in_order(session, self.has_unanswered());
        }
    }
}
