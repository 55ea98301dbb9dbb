//! Makes a run, and makes it the current one.

use futures_util::future::join;
use leasehold_txn::{Abort, Operation};

use super::Executions;
use super::conflict::CurrentConflict;
use super::current::{Current, conflict_as_stored, lock_with_execution};
use super::key::{Archetype, CurrentKey};
use super::snapshot::Snapshot;
use super::state::ExecutionState;
use super::writes::Writes;
use crate::batch::Miss;
use crate::shard::fence::fence;
use crate::{AppendNode, Error, Result, RunId};

const CREATE: Operation = Operation::new("state.create_execution");

/// What a new run does to the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateMode {
    /// There is none, and the new run becomes it.
    BrandNew,
    /// It is this run, completed, and the new run takes its place.
    UpdateCurrent {
        /// The run that must be the current one.
        previous_run_id: RunId,
        /// The failover version that it must have.
        previous_last_write_version: i64,
    },
    /// Nothing, whether there is one or not.
    BypassCurrent,
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct CreateExecution {
    range_id: i64,
    mode: CreateMode,
    current: CurrentKey,
    new: Snapshot,
    append: Vec<AppendNode>,
}

impl CreateExecution {
    /// A run to be made under the range of its shard.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the state of the run does not go with its status or with the mode, or an id is too
    /// long.
    pub fn new(range_id: i64, mode: CreateMode, archetype: Archetype, new: Snapshot) -> Result<Self> {
        new.check()?;
        match mode {
            CreateMode::BrandNew | CreateMode::UpdateCurrent { .. } => {
                new.run.summary.check_may_be_current()?;
            }
            CreateMode::BypassCurrent => new.run.summary.check_not_open()?,
        }
        Ok(Self { range_id, mode, current: new.run.key.current(archetype), new, append: Vec::new() })
    }

    /// Nodes to be appended to histories before anything else, in this order. They stay there whatever comes of the rest.
    #[must_use]
    pub fn appending(mut self, nodes: Vec<AppendNode>) -> Self {
        self.append = nodes;
        self
    }

    fn check(&self, current: Option<Current>) -> Result<()> {
        match (self.mode, current) {
            (CreateMode::UpdateCurrent { .. }, None) => Err(Error::from(CurrentConflict::none())),
            (CreateMode::BrandNew, Some(current)) => Err(current.conflict()),
            (CreateMode::UpdateCurrent { previous_run_id, previous_last_write_version }, Some(current))
                if current.run_id != previous_run_id
                    || current.last_write_version != previous_last_write_version
                    || current.state != ExecutionState::Completed =>
            {
                Err(current.conflict())
            }
            (CreateMode::BypassCurrent, Some(current)) if current.run_id == self.new.run.key.run_id => {
                Err(current.conflict())
            }
            _ => Ok(()),
        }
    }

    fn writes<'r>(&'r self, executions: &'r Executions) -> Writes<'r> {
        let mut writes = Writes::new(&executions.database);
        match self.mode {
            CreateMode::BrandNew => writes.insert_current(&self.current, &self.new.run),
            CreateMode::UpdateCurrent { previous_run_id, .. } => {
                writes.update_current(&self.current, previous_run_id, &self.new.run);
            }
            CreateMode::BypassCurrent => {}
        }
        writes.new_run(&self.new);
        writes
    }
}

impl Executions {
    /// Makes a run, its tasks and its entries, all or nothing.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// In this order: [`Error::ShardOwnershipLost`]; [`Error::CurrentWorkflowConditionFailed`] when the current execution is
    /// not as the mode says; [`Error::WorkflowConditionFailed`] with zeros when there is such a run already.
    pub async fn create(&self, request: &CreateExecution) -> Result<()> {
        self.append(&request.append).await?;
        let database = &self.database;
        let writes = &request.writes(self);
        database
            .run(CREATE, |tx| {
                Box::pin(async move {
                    let shard_id = request.current.shard_id;
                    let fenced = fence(tx, database.fence_mode(), shard_id, request.range_id);
                    let current = lock_with_execution(tx, database, &request.current);
                    let (fenced, current) = join(fenced, current).await;
                    fenced?;
                    let mut current = current?;
                    if current.is_none() && matches!(request.mode, CreateMode::UpdateCurrent { .. }) {
                        // Who waited for the record while another gave it a new run sees the record, but not that run. A
                        // second statement sees both, and its answer names the winner.
                        current = lock_with_execution(tx, database, &request.current).await?;
                    }
                    request.check(current).map_err(Abort::Condition)?;
                    match writes.execute(tx).await? {
                        None => Ok(()),
                        Some(Miss::CurrentExecution) => Err(conflict_as_stored(tx, &request.current).await),
                        Some(missed) => Err(Abort::Condition(missed.error())),
                    }
                })
            })
            .await
    }
}
