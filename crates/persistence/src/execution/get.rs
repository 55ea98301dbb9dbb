//! Reads a run and all its parts as they were at one moment.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join, join_all};
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;
use leasehold_txn::{Abort, Operation};

use super::Executions;
use super::chasm::{ChasmNode, ChasmPath};
use super::key::ExecutionKey;
use super::maps::{
    ACTIVITIES, CHASM_NODES, CHILDREN, Maps, REQUEST_CANCELS, SIGNALS, SIGNALS_REQUESTED, TIMERS,
};
use super::snapshot::Record;
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const GET: Operation = Operation::new("state.get_execution");
const SELECT_EXECUTION: Sql = Sql::same(include_str!("sql/select_execution.sql"));
const SELECT_BUFFERED_EVENTS: Sql = Sql::same(include_str!("sql/select_buffered_events.sql"));
/// Where each statement has a snapshot of its own unless told. DSQL has one per transaction always, and refuses this.
const ONE_SNAPSHOT: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// In the order in which [`MutableState::of`] takes their rows.
const PARTS: [Sql; 9] = [
    SELECT_EXECUTION,
    ACTIVITIES.select,
    TIMERS.select,
    CHILDREN.select,
    REQUEST_CANCELS.select,
    SIGNALS.select,
    SIGNALS_REQUESTED.select,
    CHASM_NODES.select,
    SELECT_BUFFERED_EVENTS,
];

/// A run as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutableState {
    /// Its row, with the tokens.
    pub record: Record,
    /// Its entries.
    pub maps: Maps,
    /// The events that wait for a place in the history, oldest first.
    pub buffered_events: Vec<Blob>,
}

impl MutableState {
    fn of(parts: &[Vec<Row>; 9]) -> Result<Option<Self>> {
        let [row, activities, timers, children, request_cancels, signals, requested, nodes, buffered] = parts;
        let Some(row) = row.first() else { return Ok(None) };
        let record = Record {
            info: Blob::of(row)?,
            state: Blob::of_columns(row, "state", "state_encoding")?,
            next_event_id: column(row, "next_event_id")?,
            last_write_version: column(row, "last_write_version")?,
            db_record_version: column(row, "db_record_version")?,
        };
        let maps = Maps {
            activities: by_id(activities)?,
            timers: by_id(timers)?,
            children: by_id(children)?,
            request_cancels: by_id(request_cancels)?,
            signals: by_id(signals)?,
            signals_requested: requested
                .iter()
                .map(|row| column(row, "id"))
                .collect::<Result<BTreeSet<_>>>()?,
            chasm_nodes: nodes.iter().map(node).collect::<Result<_>>()?,
        };
        let buffered_events = buffered.iter().map(Blob::of).collect::<Result<_>>()?;
        Ok(Some(Self { record, maps, buffered_events }))
    }
}

fn by_id<'a, K: FromSql<'a> + Ord>(rows: &'a [Row]) -> Result<BTreeMap<K, Blob>> {
    rows.iter().map(|row| Ok((column(row, "id")?, Blob::of(row)?))).collect()
}

fn node(row: &Row) -> Result<(ChasmPath, ChasmNode)> {
    let has_data = column::<Option<&[u8]>>(row, "data")?.is_some();
    let node = ChasmNode {
        metadata: Blob::of_columns(row, "metadata", "metadata_encoding")?,
        data: if has_data { Some(Blob::of(row)?) } else { None },
    };
    Ok((column(row, "chasm_path")?, node))
}

impl Executions {
    /// The run with all its parts, of one moment.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run.
    pub async fn get(&self, key: &ExecutionKey) -> Result<MutableState> {
        let database = &self.database;
        let answer = database
            .run(GET, |tx| {
                Box::pin(async move {
                    let one_snapshot = async {
                        if database.is_dsql() { Ok(()) } else { tx.batch_execute(ONE_SNAPSHOT).await }
                    };
                    let columns = key.columns();
                    let parts = PARTS.map(|part| tx.query(database.words(part), &columns));
                    let (one_snapshot, parts) = join(one_snapshot, join_all(parts)).await;
                    one_snapshot?;
                    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
                    let parts = parts.try_into().expect("as many answers as statements");
                    MutableState::of(&parts).map_err(Abort::Condition)
                })
            })
            .await;
        match answer {
            // Nothing was to be written, so nothing is unknown.
            Err(Error::UnknownOutcome { operation, .. }) => {
                Err(Error::Unavailable { operation, source: None })
            }
            Err(error) => Err(error),
            Ok(found) => found.ok_or(Error::NotFound { what: "execution" }),
        }
    }
}
