//! A run as a whole, to be made or to replace what is there.

use super::key::ExecutionKey;
use super::maps::Maps;
use super::state::Summary;
use crate::{Blob, Error, HistoryTask, Result};

/// The row of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the run is and how it stands.
    pub info: Blob,
    /// Its state, as the record of the current execution has it too.
    pub state: Blob,
    /// The id that its next event gets.
    pub next_event_id: i64,
    /// The failover version of its last event.
    pub last_write_version: i64,
    /// How often the row was written; 0 where the id of the next event is the token in place of it.
    pub db_record_version: i64,
}

/// A run: its key, its row, and what the record of the current execution tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which run.
    pub key: ExecutionKey,
    /// Its row.
    pub record: Record,
    /// What is told of it.
    pub summary: Summary,
}

impl Run {
    pub(super) fn check(&self) -> Result<()> {
        if self.record.db_record_version < 0 {
            let reason = format!("must be at least 0, is {}", self.record.db_record_version);
            return Err(Error::invalid("db_record_version", reason));
        }
        self.summary.check()
    }
}

/// A run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The run.
    pub run: Run,
    /// Where it replaces what is there and has no version: the id of the next event that must be stored. Else it means
    /// nothing.
    pub condition: i64,
    /// All its entries.
    pub maps: Maps,
    /// What is to be done now that it is so.
    pub tasks: Vec<HistoryTask>,
}

impl Snapshot {
    pub(super) fn check(&self) -> Result<()> {
        self.run.check()?;
        self.maps.check()
    }
}
