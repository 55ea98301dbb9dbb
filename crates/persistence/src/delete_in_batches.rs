//! Deletions of more rows than a database takes in a transaction.

use leasehold_txn::{Operation, Parameters};

use crate::sql::Sql;
use crate::{Database, Result};

/// The most rows that one transaction of a longer deletion takes: well below the 3,000 of DSQL, so that what it conflicts
/// with is little.
pub(crate) const ROWS_MAX: u64 = 1000;

impl Database {
    /// Repeats a deletion, each time a transaction of its own, until nothing is left that it would delete or `limit` rows
    /// are gone; how many that were. The statement has `values` and then, last, how many rows it may take.
    pub(crate) async fn delete_in_batches(
        &self,
        operation: Operation,
        sql: Sql,
        values: Parameters<'_>,
        limit: u64,
    ) -> Result<u64> {
        let mut deleted = 0;
        loop {
            let batch = ROWS_MAX.min(limit - deleted);
            let rows = i64::try_from(batch).expect("a batch is small");
            let mut all = values.to_vec();
            all.push(&rows);
            let touched = self.write(operation, sql, &all).await?;
            deleted += touched;
            if touched < batch || deleted >= limit {
                return Ok(deleted);
            }
        }
    }
}
