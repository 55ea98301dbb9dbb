//! Tells which run is the current one.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::types::ToSql;

use super::Executions;
use super::current::{Current, CurrentSql};
use super::key::CurrentKey;
use super::state::{ExecutionState, ExecutionStatus};
use crate::{Error, Result, RunId};

const GET_CURRENT: Operation = Operation::new("state.get_current_execution");

/// The current run of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentExecution {
    /// The run.
    pub run_id: RunId,
    /// The request that made it.
    pub create_request_id: String,
    /// How far it is.
    pub state: ExecutionState,
    /// How it ended.
    pub status: ExecutionStatus,
}

impl Executions {
    /// The current run.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub async fn get_current(&self, key: &CurrentKey) -> Result<CurrentExecution> {
        let values = key.values();
        let values: Vec<_> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        let rows = self.database.read(GET_CURRENT, CurrentSql::of(key).select, &values).await?;
        let row = rows.first().ok_or(Error::NotFound { what: "current execution" })?;
        let Current { run_id, create_request_id, state, status, .. } = Current::of(row)?;
        Ok(CurrentExecution { run_id, create_request_id, state, status })
    }
}
