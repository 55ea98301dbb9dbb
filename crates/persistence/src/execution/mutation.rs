//! What changes in a run.

use super::maps::{MapKeys, Maps};
use super::snapshot::Run;
use crate::{Blob, HistoryTask, Result};

/// A change of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The run as it becomes.
    pub run: Run,
    /// Where the run has no version: the id of the next event that must be stored. Else it means nothing.
    pub condition: i64,
    /// Entries that come or change.
    pub upserts: Maps,
    /// Entries that go, whether they are among those that come or not.
    pub deletes: MapKeys,
    /// Whether the events that wait for a place in the history go.
    pub clear_buffered_events: bool,
    /// More of them, to be added after that.
    pub new_buffered_events: Option<Blob>,
    /// What is to be done now that it is so.
    pub tasks: Vec<HistoryTask>,
}

impl Mutation {
    pub(super) fn check(&self) -> Result<()> {
        self.run.check()?;
        self.upserts.check()?;
        self.deletes.check()
    }
}
