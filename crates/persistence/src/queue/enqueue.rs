//! Adds a message behind the last one.

use leasehold_txn::{Abort, Operation};

use super::{Line, Queue};
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const ENQUEUE: Operation = Operation::new("state.enqueue_message");
/// What a lock is worth here: see [`Database::allocate`](crate::Database). Where nobody waits the key alone decides.
const SELECT_LAST: Sql = Sql {
    postgres: include_str!("sql/select_last.postgres.sql"),
    dsql: include_str!("sql/select_last.dsql.sql"),
};
const INSERT: &str = include_str!("sql/insert.sql");

impl Queue {
    /// Adds a message; its id is the one after the last.
    ///
    /// # Errors
    /// [`Error::OccExhausted`] when others took every id that it tried for.
    pub async fn enqueue(&self, blob: &Blob) -> Result<i64> {
        self.line.enqueue(blob).await
    }
}

impl Line {
    pub(super) async fn enqueue(&self, blob: &Blob) -> Result<i64> {
        let (number, select_last) = (self.number, self.database.words(SELECT_LAST));
        self.database
            .allocate(ENQUEUE, |tx| {
                Box::pin(async move {
                    let last = tx.query_opt(select_last, &[&number]).await?;
                    let last = last.map(|row| column::<i64>(&row, "message_id")).transpose();
                    let id = last.map_err(Abort::<Error>::Condition)?.map_or(0, |last| last + 1);
                    tx.execute(INSERT, &[&number, &id, &blob.data(), &blob.encoding()]).await?;
                    Ok(id)
                })
            })
            .await
    }
}
