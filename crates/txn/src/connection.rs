//! An open connection and the statements prepared on it.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Statement};
use tokio_util::task::AbortOnDropHandle;

/// A connection. Dropping it closes it, whatever is in flight.
pub(crate) struct Connection {
    client: Client,
    _task: AbortOnDropHandle<()>,
    prepared: Mutex<HashMap<Box<str>, Statement>>,
    statements_max: usize,
}

impl Connection {
    /// `task` carries the bytes of `client`.
    pub(crate) fn new(client: Client, task: JoinHandle<()>, statements_max: usize) -> Self {
        Self { client, _task: AbortOnDropHandle::new(task), prepared: Mutex::default(), statements_max }
    }

    /// The statement, prepared by the first who asks. Costs no round trip from then on.
    pub(crate) async fn prepared(&self, sql: &str) -> Result<Statement, Error> {
        self.prepared_as(sql, &[]).await
    }

    /// As [`Connection::prepared`], with the types of the parameters. One text always goes with the same types.
    pub(crate) async fn prepared_as(&self, sql: &str, types: &[Type]) -> Result<Statement, Error> {
        if let Some(statement) = self.cache().get(sql) {
            return Ok(statement.clone());
        }
        // Boxed: preparing is rare, and its state would otherwise be a part of every statement's.
        let statement = Box::pin(self.client.prepare_typed(sql, types)).await?;
        let mut cache = self.cache();
        if cache.len() >= self.statements_max {
            // All at once: who makes up statements as he goes gains nothing from keeping the recent ones.
            cache.clear();
        }
        cache.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Prepares everything anew from here on: a table has changed under the statements.
    pub(crate) fn forget_prepared(&self) {
        self.cache().clear();
    }

    fn cache(&self) -> MutexGuard<'_, HashMap<Box<str>, Statement>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}
