//! Replaces a run by another history of it, after two clusters wrote to it.

use leasehold_txn::Operation;

use super::Executions;
use super::guarded::{CurrentRule, Guard, RunToken, write_guarded};
use super::key::{Archetype, CurrentKey};
use super::mutation::Mutation;
use super::snapshot::Snapshot;
use super::writes::Writes;
use crate::{AppendNode, Error, Result};

const CONFLICT_RESOLVE: Operation = Operation::new("state.conflict_resolve_execution");

/// What the resolution of a conflict does to the current execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictResolveMode {
    /// The run that was the current one makes way for the one that is reset, or for the one that follows that.
    UpdateCurrent,
    /// The run that is reset is not the current one.
    BypassCurrent,
}

/// A run to be reset.
#[derive(Clone, Debug)]
pub struct ConflictResolution {
    range_id: i64,
    mode: ConflictResolveMode,
    current: CurrentKey,
    reset: Snapshot,
    new: Option<Snapshot>,
    current_mutation: Option<Mutation>,
    append: Vec<AppendNode>,
}

impl ConflictResolution {
    /// A run to be reset under the range of its shard; `new` is the run that follows it, `current_mutation` what changes in
    /// the run that was the current one, where that is another.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the state of a run does not go with its status or with the mode, an id is too long, or
    /// a run is of another workflow.
    pub fn new(
        range_id: i64,
        mode: ConflictResolveMode,
        archetype: Archetype,
        reset: Snapshot,
        new: Option<Snapshot>,
        current_mutation: Option<Mutation>,
    ) -> Result<Self> {
        reset.check()?;
        if let Some(new) = &new {
            new.check()?;
            reset.run.key.check_same_workflow(&new.run.key)?;
        }
        if let Some(mutation) = &current_mutation {
            mutation.check()?;
            reset.run.key.check_same_workflow(&mutation.run.key)?;
            if mutation.run.key == reset.run.key {
                return Err(Error::invalid("current run", "must not be the run that is reset".to_owned()));
            }
        }
        let new_summary = new.as_ref().map(|new| &new.run.summary);
        match mode {
            ConflictResolveMode::UpdateCurrent => {
                reset.run.summary.check_may_be_current()?;
                if let Some(new) = new_summary {
                    reset.run.summary.check_not_open()?;
                    new.check_may_be_current()?;
                }
                current_mutation.as_ref().map_or(Ok(()), |mutation| mutation.run.summary.check_not_open())?;
            }
            ConflictResolveMode::BypassCurrent => {
                reset.run.summary.check_not_open()?;
                new_summary.map_or(Ok(()), |new| new.check_not_open())?;
                if current_mutation.is_some() {
                    let reason = "must not be given where the current run is bypassed".to_owned();
                    return Err(Error::invalid("current run", reason));
                }
            }
        }
        Ok(Self {
            range_id,
            mode,
            current: reset.run.key.current(archetype),
            reset,
            new,
            current_mutation,
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
    /// Replaces a run, changes the one that was current, makes the one that follows, all or nothing.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// As [`update`](Self::update), for the run that is reset and then for the one that was the current one.
    pub async fn conflict_resolve(&self, request: &ConflictResolution) -> Result<()> {
        self.append(&request.append).await?;
        let ConflictResolution { range_id, mode, current, reset, new, current_mutation, .. } = request;
        let mut writes = Writes::new(&self.database);
        let rule = match mode {
            ConflictResolveMode::UpdateCurrent => {
                let was = current_mutation.as_ref().map_or(&reset.run, |mutation| &mutation.run);
                let becomes = new.as_ref().map_or(&reset.run, |new| &new.run);
                writes.update_current(current, was.key.run_id, becomes);
                CurrentRule::Is(was.key.run_id)
            }
            ConflictResolveMode::BypassCurrent => CurrentRule::IsNot(reset.run.key.run_id),
        };
        let mut runs = vec![RunToken::of_snapshot(reset)];
        writes.reset_run(reset);
        if let Some(mutation) = current_mutation {
            runs.push(RunToken::of_mutation(mutation));
            writes.change_run(mutation);
        }
        if let Some(new) = new {
            writes.new_run(new);
        }
        let guard = Guard {
            shard_id: current.shard_id,
            range_id: *range_id,
            current: Some((current.clone(), rule)),
            runs,
        };
        write_guarded(&self.database, CONFLICT_RESOLVE, &guard, &writes).await
    }
}
