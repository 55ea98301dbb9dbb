//! Replaces a run without a look at which one is current.

use leasehold_txn::Operation;

use super::Executions;
use super::guarded::{Guard, RunToken, write_guarded};
use super::snapshot::Snapshot;
use super::writes::Writes;
use crate::Result;

const SET: Operation = Operation::new("state.set_execution");

/// A run to be replaced.
#[derive(Clone, Debug)]
pub struct SetExecution {
    range_id: i64,
    snapshot: Snapshot,
}

impl SetExecution {
    /// A run to be replaced under the range of its shard.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when its state does not go with its status, or an id is too
    /// long.
    pub fn new(range_id: i64, snapshot: Snapshot) -> Result<Self> {
        snapshot.check()?;
        Ok(Self { range_id, snapshot })
    }
}

impl Executions {
    /// Replaces a run, all or nothing. The record of the current execution stays as it is.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// In this order: [`Error::ShardOwnershipLost`](crate::Error::ShardOwnershipLost);
    /// [`Error::WorkflowConditionFailed`](crate::Error::WorkflowConditionFailed) when the token of the run differs,
    /// [`Error::ConditionFailed`](crate::Error::ConditionFailed) when there is no such run.
    pub async fn set(&self, request: &SetExecution) -> Result<()> {
        let SetExecution { range_id, snapshot } = request;
        let mut writes = Writes::new(&self.database);
        writes.reset_run(snapshot);
        let guard = Guard {
            shard_id: snapshot.run.key.shard_id,
            range_id: *range_id,
            current: None,
            runs: vec![RunToken::of_snapshot(snapshot)],
        };
        write_guarded(&self.database, SET, &guard, &writes).await
    }
}
