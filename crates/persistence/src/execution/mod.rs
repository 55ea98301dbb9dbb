//! Executions: the runs of a workflow, which of them is the current one, and all that a run keeps beside its history.

mod add_history_tasks;
mod chasm;
mod conflict;
mod conflict_resolve;
mod create;
mod current;
mod delete;
mod delete_current;
mod get;
mod get_current;
mod guarded;
mod key;
mod maps;
#[cfg(test)]
mod modes;
mod mutation;
mod set;
mod snapshot;
mod state;
mod update;
mod writes;

pub use chasm::{ChasmNode, ChasmPath};
pub use conflict::{CurrentConflict, RequestIdInfo};
pub use conflict_resolve::{ConflictResolution, ConflictResolveMode};
pub use create::{CreateExecution, CreateMode};
pub use get::MutableState;
pub use get_current::CurrentExecution;
pub use key::{Archetype, CurrentKey, ExecutionKey, WorkflowId};
pub use maps::{MapKeys, Maps};
pub use mutation::Mutation;
pub use set::SetExecution;
pub use snapshot::{Record, Run, Snapshot};
pub use state::{ExecutionState, ExecutionStatus, Summary};
pub use update::{UpdateExecution, UpdateMode};

use crate::{AppendNode, Database, History, Result};

/// The executions of a database.
#[derive(Clone, Debug)]
pub struct Executions {
    database: Database,
    history: History,
}

impl Executions {
    /// The executions of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { history: History::new(database.clone()), database }
    }

    /// What a write appends to histories comes before its transaction and outside it. If that fails, the nodes stay behind:
    /// readers of a history skip what its execution does not point at.
    async fn append(&self, nodes: &[AppendNode]) -> Result<()> {
        for node in nodes {
            self.history.append(node).await?;
        }
        Ok(())
    }
}
