//! What executions are known by.

use leasehold_txn::tokio_postgres::types::ToSql;

use crate::batch::Value;
use crate::shard::ShardId;
use crate::{Error, NamespaceId, Result, RunId};

/// The most characters that a column for names can keep.
const NAME_LEN_MAX: usize = 255;

/// Refuses a name that its column cannot keep.
pub(super) fn check_name(field: &'static str, name: &str) -> Result<()> {
    let len = name.chars().count();
    if len > NAME_LEN_MAX || name.contains('\0') {
        let reason = format!("must have at most {NAME_LEN_MAX} characters and no zero byte, has {len}");
        return Err(Error::invalid(field, reason));
    }
    Ok(())
}

/// What a workflow, or whatever else is executed, is called in its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkflowId(String);

impl WorkflowId {
    /// A name.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when it has more than 255 characters or a zero byte.
    pub fn new(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        check_name("workflow_id", &id)?;
        Ok(Self(id))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is executed: a workflow, or something else that has runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Archetype(Option<u32>);

impl Archetype {
    /// A workflow.
    pub const WORKFLOW: Self = Self(None);

    /// Something else, by the number of its kind.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] for 0, which is no kind.
    pub fn other(id: u32) -> Result<Self> {
        if id == 0 {
            return Err(Error::invalid("archetype_id", "must be at least 1, is 0".to_owned()));
        }
        Ok(Self(Some(id)))
    }

    pub(super) const fn other_id(self) -> Option<u32> {
        self.0
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionKey {
    /// The shard that keeps it.
    pub shard_id: ShardId,
    /// Its namespace.
    pub namespace_id: NamespaceId,
    /// The workflow.
    pub workflow_id: WorkflowId,
    /// The run.
    pub run_id: RunId,
}

impl ExecutionKey {
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        vec![
            Box::new(self.shard_id),
            Box::new(self.namespace_id),
            Box::new(self.workflow_id.as_str()),
            Box::new(self.run_id),
        ]
    }

    /// The columns of the key, for statements that need nothing else.
    pub(super) fn columns(&self) -> [&(dyn ToSql + Sync); 4] {
        [&self.shard_id, &self.namespace_id, &self.workflow_id.0, &self.run_id]
    }

    /// Which of the workflow's runs is current.
    #[must_use]
    pub fn current(&self, archetype: Archetype) -> CurrentKey {
        let workflow_id = self.workflow_id.clone();
        CurrentKey { shard_id: self.shard_id, namespace_id: self.namespace_id, workflow_id, archetype }
    }

    /// Refuses a run of another workflow.
    pub(super) fn check_same_workflow(&self, other: &Self) -> Result<()> {
        if self.shard_id != other.shard_id
            || self.namespace_id != other.namespace_id
            || self.workflow_id != other.workflow_id
        {
            let reason = "must be of the same shard, namespace and workflow as the other run".to_owned();
            return Err(Error::invalid("new run", reason));
        }
        Ok(())
    }
}

/// The current run of a workflow, or of something else that has runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CurrentKey {
    /// The shard that keeps it.
    pub shard_id: ShardId,
    /// Its namespace.
    pub namespace_id: NamespaceId,
    /// The workflow.
    pub workflow_id: WorkflowId,
    /// What kind of thing it is.
    pub archetype: Archetype,
}

impl CurrentKey {
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let mut values: Vec<Value<'_>> =
            vec![Box::new(self.shard_id), Box::new(self.namespace_id), Box::new(self.workflow_id.as_str())];
        values.extend(self.archetype.other_id().map(|id| Box::new(i64::from(id)) as Value<'_>));
        values
    }

    pub(super) fn execution(&self, run_id: RunId) -> ExecutionKey {
        let workflow_id = self.workflow_id.clone();
        ExecutionKey { shard_id: self.shard_id, namespace_id: self.namespace_id, workflow_id, run_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_by_their_column() {
        assert!(WorkflowId::new("é".repeat(255)).is_ok());
        for id in ["x".repeat(256), "a\0b".to_owned()] {
            let error = WorkflowId::new(id).expect_err("no name");
            assert!(matches!(error, Error::InvalidRequest { field: "workflow_id", .. }), "{error:?}");
        }
    }

    #[test]
    fn zero_is_no_archetype() {
        assert!(Archetype::other(0).is_err());
        assert_ne!(Archetype::other(1).expect("a kind"), Archetype::WORKFLOW);
    }
}
