//! Counts and ages.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_txn::tokio_postgres::types::Type;

use super::errors::column;
use super::open::counts;
use super::operations::STATS;
use super::partition::PostgresPartition;
use super::values::Instant;
use crate::store::{Result, StoreStats};

/// Reads every row.
pub(super) async fn stats(partition: &PostgresPartition, now: Timestamp) -> Result<StoreStats> {
    let now = Instant(now);
    let values = [(&now as _, Type::TIMESTAMPTZ)];
    let rows = partition.read(STATS, |statements| &statements.stats, &values).await?;
    let row = rows.first().expect("an aggregate has a row in any case");
    let mean = |name| column::<i64>(row, name).map(|micros| micros.unsigned_abs());
    Ok(StoreStats {
        counts: counts(row)?,
        average_age: Duration::from_micros(mean("average_age")?),
        average_lease_left: Duration::from_micros(mean("average_lease_left")?),
        oldest_ready_at: column::<Option<Instant>>(row, "oldest_ready_at")?.map(|at| at.0),
    })
}
