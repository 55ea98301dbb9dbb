//! Deletes messages that nobody needs any more.

use leasehold_txn::Operation;

use super::{Line, Queue};
use crate::Result;
use crate::sql::Sql;

const DELETE: Operation = Operation::new("state.delete_messages");
const DELETE_ONE: Sql = Sql::same(include_str!("sql/delete_one.sql"));
const DELETE_RANGE: Sql = Sql::same(include_str!("sql/delete_range.sql"));
const DELETE_RANGE_BATCH: Sql = Sql::same(include_str!("sql/delete_range_batch.sql"));

impl Queue {
    /// Deletes all messages whose ids are below `id`. Where the database bounds transactions it takes several, and one that
    /// fails leaves the later messages: ask again.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete_before(&self, id: i64) -> Result<()> {
        self.line.delete_range(-1, id.saturating_sub(1)).await
    }
}

impl Line {
    pub(super) async fn delete(&self, id: i64) -> Result<()> {
        self.database.write(DELETE, DELETE_ONE, &[&self.number, &id]).await.map(drop)
    }

    /// Deletes what is above `first`, up to and with `last`.
    pub(super) async fn delete_range(&self, first: i64, last: i64) -> Result<()> {
        let values: leasehold_txn::Parameters<'_> = &[&self.number, &first, &last];
        if !self.database.is_dsql() {
            return self.database.write(DELETE, DELETE_RANGE, values).await.map(drop);
        }
        self.database.delete_in_batches(DELETE, DELETE_RANGE_BATCH, values, u64::MAX).await.map(drop)
    }
}
