//! Writes under a shard, a current execution and the tokens of runs: all that they depend on is locked and compared first,
//! in one round trip.

use futures_util::future::{join, join_all};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Abort, Operation, Transaction};

use super::current::{Current, conflict_as_stored, lock};
use super::key::{CurrentKey, ExecutionKey};
use super::mutation::Mutation;
use super::snapshot::Snapshot;
use super::writes::Writes;
use crate::batch::Miss;
use crate::shard::ShardId;
use crate::shard::fence::fence;
use crate::sql::column;
use crate::{Database, Error, Result, RunId};

const LOCK_EXECUTION: &str = include_str!("sql/lock_execution.sql");
/// The same as a statement of its own. A connection has either prepared both this and the lock of the current execution or
/// neither, so the two are sent in this order always, and writers of one workflow do not wait for each other in a circle.
const LOCK_EXECUTION_AFTER_CURRENT: &str =
    concat!(include_str!("sql/lock_execution.sql"), "-- after the current execution\n");

/// What must hold for a request to be served.
pub(super) struct Guard<'r> {
    pub(super) shard_id: ShardId,
    pub(super) range_id: i64,
    pub(super) current: Option<(CurrentKey, CurrentRule)>,
    pub(super) runs: Vec<RunToken<'r>>,
}

/// What must hold for the current execution.
#[derive(Clone, Copy)]
pub(super) enum CurrentRule {
    /// It is this run.
    Is(RunId),
    /// It is another run, or there is none.
    IsNot(RunId),
}

/// A run and the token that must be stored with it.
pub(super) struct RunToken<'r> {
    key: &'r ExecutionKey,
    token: Token,
}

#[derive(Clone, Copy)]
enum Token {
    Version(i64),
    NextEventId(i64),
}

impl<'r> RunToken<'r> {
    pub(super) fn of_mutation(mutation: &'r Mutation) -> Self {
        let version = mutation.run.record.db_record_version;
        Self { key: &mutation.run.key, token: Token::new(version, mutation.condition) }
    }

    pub(super) fn of_snapshot(snapshot: &'r Snapshot) -> Self {
        let version = snapshot.run.record.db_record_version;
        Self { key: &snapshot.run.key, token: Token::new(version, snapshot.condition) }
    }

    fn check(&self, row: Option<&Row>) -> Result<()> {
        let Some(row) = row else {
            let expected = match self.token {
                Token::Version(expected) | Token::NextEventId(expected) => expected,
            };
            return Err(Error::ConditionFailed { what: "execution", expected: Some(expected), actual: None });
        };
        let (db_record_version, next_event_id) =
            (column(row, "db_record_version")?, column(row, "next_event_id")?);
        let holds = match self.token {
            Token::Version(expected) => db_record_version == expected,
            Token::NextEventId(expected) => next_event_id == expected,
        };
        if holds { Ok(()) } else { Err(Error::WorkflowConditionFailed { next_event_id, db_record_version }) }
    }
}

impl Token {
    /// Exactly one: who brings a version does not mean the other.
    const fn new(new_version: i64, condition: i64) -> Self {
        match new_version {
            0 => Self::NextEventId(condition),
            version => Self::Version(version - 1),
        }
    }
}

impl CurrentRule {
    fn check(self, current: Option<Current>) -> Result<()> {
        match (self, current) {
            (Self::Is(_), None) => Err(Error::Missing { what: "the current execution" }),
            (Self::Is(run_id), Some(current)) if current.run_id != run_id => Err(current.conflict()),
            (Self::IsNot(run_id), Some(current)) if current.run_id == run_id => Err(current.conflict()),
            (Self::Is(_) | Self::IsNot(_), _) => Ok(()),
        }
    }
}

impl Guard<'_> {
    async fn check(&self, tx: &Transaction<'_>, database: &Database) -> Result<(), Abort<Error>> {
        let current = async {
            match &self.current {
                Some((key, _)) => lock(tx, key).await,
                None => Ok(None),
            }
        };
        let lock_run = match self.current {
            Some(_) => LOCK_EXECUTION_AFTER_CURRENT,
            None => LOCK_EXECUTION,
        };
        let runs =
            join_all(self.runs.iter().map(async |run| tx.query_opt(lock_run, &run.key.columns()).await));
        let fenced = fence(tx, database.fence_mode(), self.shard_id, self.range_id);
        let (fenced, (current, runs)) = join(fenced, join(current, runs)).await;
        fenced?;
        let current = current?;
        if let Some((_, rule)) = &self.current {
            rule.check(current).map_err(Abort::Condition)?;
        }
        for (run, row) in self.runs.iter().zip(runs) {
            run.check(row?.as_ref()).map_err(Abort::Condition)?;
        }
        Ok(())
    }
}

/// Does the writes if the guard holds, all or none.
pub(super) async fn write_guarded(
    database: &Database,
    operation: Operation,
    guard: &Guard<'_>,
    writes: &Writes<'_>,
) -> Result<()> {
    database
        .run(operation, |tx| {
            Box::pin(async move {
                guard.check(tx, database).await?;
                match (writes.execute(tx).await?, &guard.current) {
                    (None, _) => Ok(()),
                    (Some(Miss::CurrentExecution), Some((key, _))) => Err(conflict_as_stored(tx, key).await),
                    (Some(missed), _) => Err(Abort::Condition(missed.error())),
                }
            })
        })
        .await
}

impl Miss {
    /// What it means that a row was not touched as it had to be, where nothing more is known of it.
    pub(super) const fn error(self) -> Error {
        match self {
            Self::NewExecution => Error::WorkflowConditionFailed { next_event_id: 0, db_record_version: 0 },
            // Both are locked by then.
            Self::CurrentExecution => Error::Missing { what: "the current execution" },
            Self::Execution => Error::Missing { what: "the execution" },
            Self::HistoryTask => Error::Missing { what: "a history task that was just written" },
        }
    }
}
