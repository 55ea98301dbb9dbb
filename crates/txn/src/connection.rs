//! An open connection and the statements prepared on it.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};
use tokio_util::task::AbortOnDropHandle;

use crate::statement_cache::{Advice, StatementCache};

/// A connection. Dropping it closes it, whatever is in flight.
pub(crate) struct Connection {
    client: Client,
    _task: AbortOnDropHandle<()>,
    prepared: Mutex<StatementCache<Statement>>,
}

impl Connection {
    /// `task` carries the bytes of `client`.
    pub(crate) fn new(client: Client, task: JoinHandle<()>, statements_max: usize) -> Self {
        let prepared = Mutex::new(StatementCache::new(statements_max));
        Self { client, _task: AbortOnDropHandle::new(task), prepared }
    }

    /// The statement, prepared by the first who asks. Costs no round trip from then on.
    pub(crate) async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        let advice = self.cache().ask(sql);
        match advice {
            Advice::Use(statement) => Ok(statement),
            Advice::Prepare | Advice::SendUnprepared => self.prepare(sql, &[]).await,
        }
    }

    /// As [`Connection::prepared`], with the types of the parameters; `None` where the statement is better sent
    /// unprepared. One text always goes with the same types.
    pub(crate) async fn prepared_as(&self, sql: &str, types: &[Type]) -> Result<Option<Statement>, Error> {
        let advice = self.cache().ask(sql);
        match advice {
            Advice::Use(statement) => Ok(Some(statement)),
            Advice::Prepare => self.prepare(sql, types).await.map(Some),
            Advice::SendUnprepared => Ok(None),
        }
    }

    async fn prepare(&self, sql: &str, types: &[Type]) -> Result<Statement, Error> {
        // Boxed: preparing is rare, and its state would otherwise be a part of every statement's.
        let statement = Box::pin(self.client.prepare_typed(sql, types)).await?;
        self.cache().keep(sql, statement.clone());
        Ok(statement)
    }

    /// Prepares everything anew from here on: a table has changed under the statements.
    pub(crate) fn forget_prepared(&self) {
        self.cache().clear();
    }

    fn cache(&self) -> MutexGuard<'_, StatementCache<Statement>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
