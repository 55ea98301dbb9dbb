//! What is due, and when the next thing is.

use std::num::NonZeroUsize;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::column;
use super::floors::Floors;
use super::operations::{DEADLINES, DUE};
use super::partition::PostgresPartition;
use super::values::{IdText, Instant, count};
use crate::store::{Deadlines, Due, DueAction, Result};

pub(super) async fn due(
    partition: &PostgresPartition,
    now: Timestamp,
    max_attempts: u32,
    limit: NonZeroUsize,
) -> Result<Vec<Due>> {
    let (now, max_attempts, limit) = (Instant(now), i64::from(max_attempts), count(limit.get()));
    let (lease, expire, enqueue, may_lack) = floor_values(&partition.floors);
    let values = [
        (&now as _, Type::TIMESTAMPTZ),
        (&max_attempts as _, Type::INT8),
        (&limit as _, Type::INT8),
        (&lease as _, Type::TIMESTAMPTZ),
        (&expire as _, Type::TIMESTAMPTZ),
        (&enqueue as _, Type::TIMESTAMPTZ),
        (&may_lack as _, Type::BOOL),
    ];
    let rows = partition.read(DUE, |statements| &statements.due, &values).await?;
    rows.iter().map(due_of).collect()
}

fn due_of(row: &Row) -> Result<Due> {
    let action = match column(row, "action")? {
        "enqueue" => DueAction::Enqueue,
        "reclaim" => DueAction::Reclaim,
        _ => DueAction::Die,
    };
    Ok(Due { id: column::<IdText>(row, "id")?.0, action })
}

pub(super) async fn deadlines(partition: &mut PostgresPartition) -> Result<Deadlines> {
    let (lease, expire, enqueue, may_lack) = floor_values(&partition.floors);
    let values = [
        (&lease as _, Type::TIMESTAMPTZ),
        (&expire as _, Type::TIMESTAMPTZ),
        (&enqueue as _, Type::TIMESTAMPTZ),
        (&may_lack as _, Type::BOOL),
    ];
    let rows = partition.read(DEADLINES, |statements| &statements.deadlines, &values).await?;
    let deadlines = deadlines_of(rows.first().expect("three lookups make one row"))?;
    partition.floors = Floors::of(&deadlines);
    Ok(deadlines)
}

pub(super) fn deadlines_of(row: &Row) -> Result<Deadlines> {
    let at = |name| column::<Option<Instant>>(row, name).map(|at| at.map(|at| at.0));
    Ok(Deadlines { lease: at("lease")?, expire: at("expire")?, enqueue: at("enqueue")? })
}

/// The floors as values of a statement.
pub(super) fn floor_values(floors: &Floors) -> (Instant, Instant, Instant, bool) {
    let may_lack = floors.lease_may_lack_deadline();
    (Instant(floors.lease), Instant(floors.expire), Instant(floors.enqueue), may_lack)
}
