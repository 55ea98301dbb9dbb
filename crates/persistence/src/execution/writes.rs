//! The writes of a request, made before its transaction begins and the same in every attempt.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{DatabaseError, Transaction};

use super::current::CurrentSql;
use super::key::{CurrentKey, ExecutionKey};
use super::maps::{
    ACTIVITIES, CHASM_NODES, CHILDREN, MapKeys, MapTable, Maps, REQUEST_CANCELS, SIGNALS, SIGNALS_REQUESTED,
    TIMERS,
};
use super::mutation::Mutation;
use super::snapshot::{Run, Snapshot};
use crate::batch::{Miss, Step, Value, execute_together};
use crate::history_task::insertions;
use crate::sql::Sql;
use crate::time::Stored;
use crate::{Blob, Database, RunId};

const INSERT_EXECUTION: Sql = Sql::same(include_str!("sql/insert_execution.sql"));
const UPDATE_EXECUTION_BY_VERSION: Sql = Sql::same(include_str!("sql/update_execution_by_version.sql"));
const UPDATE_EXECUTION_BY_NEXT_EVENT_ID: Sql =
    Sql::same(include_str!("sql/update_execution_by_next_event_id.sql"));
pub(super) const DELETE_BUFFERED_EVENTS: Sql = Sql::same(include_str!("sql/delete_buffered_events.sql"));
const INSERT_BUFFERED_EVENT: Sql = Sql {
    postgres: include_str!("sql/insert_buffered_event.postgres.sql"),
    dsql: include_str!("sql/insert_buffered_event.dsql.sql"),
};

/// Which entries of a map go.
enum Gone<'r> {
    None,
    These(&'r MapKeys),
    /// All but those that come.
    AllOthers,
}

/// Writes that do not depend on each other, and those that must come after them.
pub(super) struct Writes<'r> {
    database: &'r Database,
    steps: Vec<Step<'r>>,
    after: Vec<Step<'r>>,
}

impl<'r> Writes<'r> {
    pub(super) fn new(database: &'r Database) -> Self {
        Self { database, steps: Vec::new(), after: Vec::new() }
    }

    /// Sends them; what was missed if a row was not as it had to be.
    pub(super) async fn execute(&self, tx: &Transaction<'_>) -> Result<Option<Miss>, DatabaseError> {
        let missed = execute_together(tx, &self.steps).await?;
        if missed.is_some() || self.after.is_empty() {
            return Ok(missed);
        }
        execute_together(tx, &self.after).await
    }

    /// A run that is not there yet.
    pub(super) fn new_run(&mut self, snapshot: &'r Snapshot) {
        let run = &snapshot.run;
        self.push(INSERT_EXECUTION, row(run), Some((1, Miss::NewExecution)));
        self.tasks(&run.key, &snapshot.tasks);
        self.maps(&run.key, &snapshot.maps, &Gone::None);
    }

    /// A run that takes the place of what is there under the same key.
    pub(super) fn reset_run(&mut self, snapshot: &'r Snapshot) {
        let key = &snapshot.run.key;
        self.update_run(&snapshot.run, snapshot.condition);
        self.tasks(key, &snapshot.tasks);
        self.maps(key, &snapshot.maps, &Gone::AllOthers);
        self.push(DELETE_BUFFERED_EVENTS, key.values(), None);
    }

    /// What changes in a run.
    pub(super) fn change_run(&mut self, mutation: &'r Mutation) {
        let key = &mutation.run.key;
        self.update_run(&mutation.run, mutation.condition);
        self.tasks(key, &mutation.tasks);
        self.maps(key, &mutation.upserts, &Gone::These(&mutation.deletes));
        if mutation.clear_buffered_events {
            self.push(DELETE_BUFFERED_EVENTS, key.values(), None);
        }
        if let Some(events) = &mutation.new_buffered_events {
            let mut values = key.values();
            values.extend([Box::new(events.data()) as Value<'_>, Box::new(events.encoding())]);
            let sql = self.database.words(INSERT_BUFFERED_EVENT);
            // Sent along with the deletion it could be deleted.
            self.after.push(Step { sql, values, expected: Some((1, Miss::Execution)) });
        }
    }

    /// The record of the current execution, where there is none.
    pub(super) fn insert_current(&mut self, key: &'r CurrentKey, run: &'r Run) {
        let values = current_row(key, run);
        self.push(CurrentSql::of(key).insert, values, Some((1, Miss::CurrentExecution)));
    }

    /// The record of the current execution, where it is `expected`.
    pub(super) fn update_current(&mut self, key: &'r CurrentKey, expected: RunId, run: &'r Run) {
        let mut values = current_row(key, run);
        values.push(Box::new(expected));
        self.push(CurrentSql::of(key).update, values, Some((1, Miss::CurrentExecution)));
    }

    /// Exactly one token: the version where there is one, else the id of the next event.
    fn update_run(&mut self, run: &'r Run, condition: i64) {
        let mut values = row(run);
        let (sql, expected) = match run.record.db_record_version {
            0 => (UPDATE_EXECUTION_BY_NEXT_EVENT_ID, condition),
            version => (UPDATE_EXECUTION_BY_VERSION, version - 1),
        };
        values.push(Box::new(expected));
        self.push(sql, values, Some((1, Miss::Execution)));
    }

    fn tasks(&mut self, key: &ExecutionKey, tasks: &'r [crate::HistoryTask]) {
        self.steps.extend(insertions(key.shard_id, tasks));
    }

    fn maps(&mut self, key: &'r ExecutionKey, maps: &'r Maps, gone: &Gone<'r>) {
        let these = match gone {
            Gone::These(keys) => Some(*keys),
            Gone::None | Gone::AllOthers => None,
        };
        let mut events = |table, entries, these| {
            self.map(table, key, Entries::of_events(entries, these), gone);
        };
        events(&ACTIVITIES, &maps.activities, these.map(|keys| &keys.activities));
        events(&CHILDREN, &maps.children, these.map(|keys| &keys.children));
        events(&REQUEST_CANCELS, &maps.request_cancels, these.map(|keys| &keys.request_cancels));
        events(&SIGNALS, &maps.signals, these.map(|keys| &keys.signals));
        self.map(&TIMERS, key, Entries::of_timers(&maps.timers, these.map(|keys| &keys.timers)), gone);
        let requests =
            Entries::of_requests(&maps.signals_requested, these.map(|keys| &keys.signals_requested));
        self.map(&SIGNALS_REQUESTED, key, requests, gone);
        let nodes = Entries::of_nodes(&maps.chasm_nodes, these.map(|keys| &keys.chasm_nodes));
        self.map(&CHASM_NODES, key, nodes, gone);
    }

    fn map<I>(&mut self, table: &MapTable, key: &'r ExecutionKey, entries: Entries<'r, I>, gone: &Gone<'r>)
    where
        I: ToSql + Clone + Sync + Send + 'r,
    {
        let Entries { ids, columns, deleted } = entries;
        let with_ids = |ids: Vec<I>| {
            let mut values = key.values();
            values.push(Box::new(ids));
            values
        };
        match gone {
            Gone::AllOthers => self.push(table.retain, with_ids(ids.clone()), None),
            Gone::These(_) if !deleted.is_empty() => self.push(table.delete, with_ids(deleted), None),
            Gone::These(_) | Gone::None => {}
        }
        if !ids.is_empty() {
            let mut values = with_ids(ids);
            values.extend(columns);
            self.push(table.upsert, values, None);
        }
    }

    fn push(&mut self, sql: Sql, values: Vec<Value<'r>>, expected: Option<(u64, Miss)>) {
        self.steps.push(Step { sql: self.database.words(sql), values, expected });
    }
}

/// Entries as columns, without those that go: so the two statements touch different rows and their order is of no account.
struct Entries<'r, I> {
    ids: Vec<I>,
    columns: Vec<Value<'r>>,
    deleted: Vec<I>,
}

impl<'r> Entries<'r, i64> {
    fn of_events(entries: &'r BTreeMap<i64, Blob>, deleted: Option<&'r BTreeSet<i64>>) -> Self {
        let stays = |id: &i64| deleted.is_none_or(|deleted| !deleted.contains(id));
        let (ids, blobs): (Vec<_>, Vec<_>) = entries.iter().filter(|(id, _)| stays(id)).unzip();
        Self { ids, columns: columns(blobs), deleted: deleted.into_iter().flatten().copied().collect() }
    }
}

impl<'r> Entries<'r, &'r str> {
    fn of_timers(entries: &'r BTreeMap<String, Blob>, deleted: Option<&'r BTreeSet<String>>) -> Self {
        let stays = |id: &String| deleted.is_none_or(|deleted| !deleted.contains(id));
        let entries = entries.iter().filter(|(id, _)| stays(id)).map(|(id, blob)| (id.as_str(), blob));
        let (ids, blobs): (Vec<_>, Vec<_>) = entries.unzip();
        let deleted = deleted.into_iter().flatten().map(String::as_str).collect();
        Self { ids, columns: columns(blobs), deleted }
    }

    fn of_requests(entries: &'r BTreeSet<String>, deleted: Option<&'r BTreeSet<String>>) -> Self {
        let stays = |id: &&String| deleted.is_none_or(|deleted| !deleted.contains(*id));
        let ids = entries.iter().filter(stays).map(String::as_str).collect();
        Self {
            ids,
            columns: Vec::new(),
            deleted: deleted.into_iter().flatten().map(String::as_str).collect(),
        }
    }
}

impl<'r> Entries<'r, &'r super::ChasmPath> {
    fn of_nodes(
        entries: &'r BTreeMap<super::ChasmPath, super::ChasmNode>,
        deleted: Option<&'r BTreeSet<super::ChasmPath>>,
    ) -> Self {
        let stays = |path: &super::ChasmPath| deleted.is_none_or(|deleted| !deleted.contains(path));
        let (ids, nodes): (Vec<_>, Vec<_>) = entries.iter().filter(|(path, _)| stays(path)).unzip();
        let mut columns = columns(nodes.iter().map(|node| &node.metadata).collect());
        let data = nodes.iter().map(|node| node.data.as_ref().map(Blob::data)).collect::<Vec<_>>();
        let encodings = nodes.iter().map(|node| node.data.as_ref().map(Blob::encoding)).collect::<Vec<_>>();
        columns.extend([Box::new(data) as Value<'_>, Box::new(encodings)]);
        Self { ids, columns, deleted: deleted.into_iter().flatten().collect() }
    }
}

fn columns(blobs: Vec<&Blob>) -> Vec<Value<'_>> {
    let data = blobs.iter().map(|blob| blob.data()).collect::<Vec<_>>();
    let encodings = blobs.into_iter().map(Blob::encoding).collect::<Vec<_>>();
    vec![Box::new(data), Box::new(encodings)]
}

/// The columns of a run's row, its key first.
fn row(run: &Run) -> Vec<Value<'_>> {
    let record = &run.record;
    let mut values = run.key.values();
    values.extend([
        Box::new(record.next_event_id) as Value<'_>,
        Box::new(record.last_write_version),
        Box::new(record.info.data()),
        Box::new(record.info.encoding()),
        Box::new(record.state.data()),
        Box::new(record.state.encoding()),
        Box::new(record.db_record_version),
    ]);
    values
}

/// The columns of the record of the current execution, its key first.
fn current_row<'r>(key: &'r CurrentKey, run: &'r Run) -> Vec<Value<'r>> {
    let summary = &run.summary;
    let mut values = key.values();
    values.extend([
        Box::new(run.key.run_id) as Value<'_>,
        Box::new(summary.create_request_id.as_str()),
        Box::new(summary.state.number()),
        Box::new(summary.status.number()),
        Box::new(summary.start_time.map(Stored)),
        Box::new(run.record.last_write_version),
        Box::new(run.record.state.data()),
        Box::new(run.record.state.encoding()),
    ]);
    values
}
