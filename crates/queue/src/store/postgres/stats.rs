//! Counts and ages.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_txn::Pipeline;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::{column, partition_error};
use super::open::counts;
use super::operations::STATS;
use super::place::Place;
use super::values::Instant;
use crate::store::{Result, StoreStats};

/// Reads every row, so it may take as long as opening does.
pub(super) async fn stats(place: &Place, now: Timestamp) -> Result<StoreStats> {
    let (now, queue) = (Instant(now), place.queue());
    let mut values = place.values_to_read(&queue);
    values.push((&now, Type::TIMESTAMPTZ));
    let script = &place.statements.stats;
    let policy = place.policy(place.config.open_timeout);
    let answers = Pipeline::read(STATS, &script.steps(&values)).query(&place.pool, &policy).await;
    let rows = script.answer(answers.map_err(|error| partition_error(STATS, &place.partition, error))?);
    let row = rows.first().expect("an aggregate has a row in any case");
    let mean = |name| column::<i64>(row, name).map(|micros| micros.unsigned_abs());
    Ok(StoreStats {
        counts: counts(row)?,
        average_age: Duration::from_micros(mean("average_age")?),
        average_lease_left: Duration::from_micros(mean("average_lease_left")?),
        oldest_ready_at: column::<Option<Instant>>(row, "oldest_ready_at")?.map(|at| at.0),
    })
}
