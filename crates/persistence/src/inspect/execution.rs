//! The tokens of an execution.

use leasehold_core::Timestamp;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::Inspector;
use crate::sql::{Sql, column};
use crate::time::Stored;
use crate::{Error, NamespaceBy, NamespaceId, Namespaces, Result, RunId, ShardId};

const FIND: Operation = Operation::new("state.inspect_execution");
const CURRENT: Sql = Sql::same(include_str!("sql/current.sql"));
const EXECUTION: Sql = Sql::same(include_str!("sql/execution.sql"));

/// What is kept of an execution besides itself, each counted by the statement under the same name.
const MAPS: [&str; 8] = [
    "activities",
    "timers",
    "children",
    "cancel_requests",
    "signals",
    "signals_requested",
    "chasm_nodes",
    "buffered_events",
];

/// The run that a workflow id stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentRun {
    /// The shard.
    pub shard_id: ShardId,
    /// The run.
    pub run_id: RunId,
    /// Who asked for it.
    pub create_request_id: String,
    /// Temporal's number of its state.
    pub state: i32,
    /// Temporal's number of its status.
    pub status: i32,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The version of the cluster that last wrote it.
    pub last_write_version: i64,
}

/// An execution, seen by what its next write must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionTokens {
    /// The shard.
    pub shard_id: ShardId,
    /// The range that the shard is at.
    pub range_id: i64,
    /// The run.
    pub run_id: RunId,
    /// The token of writers that bring no version.
    pub next_event_id: i64,
    /// The token of writers that bring a version.
    pub db_record_version: i64,
    /// The version of the cluster that last wrote it.
    pub last_write_version: i64,
    /// How many rows it has elsewhere.
    pub maps: Vec<MapSize>,
    /// The run that the workflow id stands for, if any.
    pub current: Option<CurrentRun>,
}

/// One kind of rows of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapSize {
    /// What they are, such as `timers`.
    pub name: &'static str,
    /// How many there are.
    pub len: i64,
}

impl Inspector {
    /// The id of a namespace, by its name.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`] when there is none.
    pub async fn namespace(&self, name: &str) -> Result<NamespaceId> {
        let namespaces = Namespaces::new(self.database.clone());
        Ok(namespaces.get(NamespaceBy::Name(name)).await?.record.id())
    }

    /// The tokens of a run; of the current one unless told. The shard is found by looking at each, so nobody need know how
    /// many there are.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run, or no current one.
    pub async fn execution(
        &self,
        namespace_id: NamespaceId,
        workflow_id: &str,
        run_id: Option<RunId>,
    ) -> Result<ExecutionTokens> {
        let rows = self.database.read(FIND, CURRENT, &[&namespace_id, &workflow_id]).await?;
        let current = rows.first().map(current_run).transpose()?;
        let run_id = run_id.or(current.as_ref().map(|current| current.run_id));
        let run_id = run_id.ok_or(Error::NotFound { what: "current execution" })?;
        let rows = self.database.read(FIND, EXECUTION, &[&namespace_id, &workflow_id, &run_id]).await?;
        let row = rows.first().ok_or(Error::NotFound { what: "execution" })?;
        let maps = MAPS.iter().map(|name| Ok(MapSize { name, len: column(row, name)? }));
        Ok(ExecutionTokens {
            shard_id: column(row, "shard_id")?,
            range_id: column(row, "range_id")?,
            run_id,
            next_event_id: column(row, "next_event_id")?,
            db_record_version: column(row, "db_record_version")?,
            last_write_version: column(row, "last_write_version")?,
            maps: maps.collect::<Result<_>>()?,
            current,
        })
    }
}

fn current_run(row: &Row) -> Result<CurrentRun> {
    let started_at: Option<Stored> = column(row, "start_time")?;
    Ok(CurrentRun {
        shard_id: column(row, "shard_id")?,
        run_id: column(row, "run_id")?,
        create_request_id: column(row, "create_request_id")?,
        state: column(row, "state")?,
        status: column(row, "status")?,
        started_at: started_at.map(|at| at.0),
        last_write_version: column(row, "last_write_version")?,
    })
}
