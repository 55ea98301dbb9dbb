//! Changes a run, and perhaps has another follow it.

use leasehold_txn::Operation;

use super::Executions;
use super::guarded::{CurrentRule, Guard, RunToken, write_guarded};
use super::key::{Archetype, CurrentKey};
use super::mutation::Mutation;
use super::snapshot::Snapshot;
use super::writes::Writes;
use crate::{AppendNode, Error, Result};

const UPDATE: Operation = Operation::new("state.update_execution");

/// What a change of a run does to the current execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// The run is the current one, and its record changes with it, or to the run that follows.
    UpdateCurrent,
    /// The run is not the current one.
    BypassCurrent,
    /// Whether it is the current one does not matter.
    IgnoreCurrent,
}

/// A change of a run.
#[derive(Clone, Debug)]
pub struct UpdateExecution {
    range_id: i64,
    mode: UpdateMode,
    current: CurrentKey,
    mutation: Mutation,
    new: Option<Snapshot>,
    append: Vec<AppendNode>,
}

impl UpdateExecution {
    /// A change of a run under the range of its shard; `new` is the run that follows it.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the state of a run does not go with its status or with the mode, an id is too long, or
    /// the new run is of another workflow.
    pub fn new(
        range_id: i64,
        mode: UpdateMode,
        archetype: Archetype,
        mutation: Mutation,
        new: Option<Snapshot>,
    ) -> Result<Self> {
        mutation.check()?;
        if let Some(new) = &new {
            new.check()?;
            mutation.run.key.check_same_workflow(&new.run.key)?;
        }
        let old = &mutation.run.summary;
        let new_summary = new.as_ref().map(|new| &new.run.summary);
        match (mode, new_summary) {
            (UpdateMode::UpdateCurrent, None) => old.check_may_be_current()?,
            (UpdateMode::UpdateCurrent, Some(new)) => {
                old.check_may_be_current()?;
                old.check_not_open()?;
                new.check_may_be_current()?;
            }
            (UpdateMode::BypassCurrent, new) => {
                old.check_not_open()?;
                new.map_or(Ok(()), |new| new.check_not_open())?;
            }
            (UpdateMode::IgnoreCurrent, None) => {}
            (UpdateMode::IgnoreCurrent, Some(_)) => {
                let reason = "must not be given where the current run is ignored".to_owned();
                return Err(Error::invalid("new run", reason));
            }
        }
        Ok(Self {
            range_id,
            mode,
            current: mutation.run.key.current(archetype),
            mutation,
            new,
            append: Vec::new(),
        })
    }

    /// Nodes to be appended to histories before anything else, in this order. They stay there whatever comes of the rest.
    #[must_use]
    pub fn appending(mut self, nodes: Vec<AppendNode>) -> Self {
        self.append = nodes;
        self
    }
}

impl Executions {
    /// Changes a run, its tasks and its entries, makes the run that follows it, all or nothing.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// In this order: [`Error::ShardOwnershipLost`]; [`Error::CurrentWorkflowConditionFailed`] when the current execution is
    /// not as the mode says, [`Error::Missing`] when there has to be one; [`Error::WorkflowConditionFailed`] when the token
    /// of the run differs, [`Error::ConditionFailed`] when there is no such run; [`Error::WorkflowConditionFailed`] with
    /// zeros when the new run is there already.
    pub async fn update(&self, request: &UpdateExecution) -> Result<()> {
        self.append(&request.append).await?;
        let UpdateExecution { range_id, mode, current, mutation, new, .. } = request;
        let run = &mutation.run;
        let mut writes = Writes::new(&self.database);
        let rule = match mode {
            UpdateMode::UpdateCurrent => {
                let becomes = new.as_ref().map_or(run, |new| &new.run);
                writes.update_current(current, run.key.run_id, becomes);
                Some(CurrentRule::Is(run.key.run_id))
            }
            UpdateMode::BypassCurrent => Some(CurrentRule::IsNot(run.key.run_id)),
            UpdateMode::IgnoreCurrent => None,
        };
        writes.change_run(mutation);
        if let Some(new) = new {
            writes.new_run(new);
        }
        let guard = Guard {
            shard_id: current.shard_id,
            range_id: *range_id,
            current: rule.map(|rule| (current.clone(), rule)),
            runs: vec![RunToken::of_mutation(mutation)],
        };
        write_guarded(&self.database, UPDATE, &guard, &writes).await
    }
}
