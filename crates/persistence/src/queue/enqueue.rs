//! Adds a message behind the last one.

use leasehold_txn::{Abort, Operation};

use super::clusters::first_above;
use super::{Line, Queue};
use crate::sql::column;
use crate::{Blob, Error, Result};

const ENQUEUE: Operation = Operation::new("state.enqueue_message");
const LOCK_METADATA: &str = include_str!("sql/lock_metadata.sql");
const INSERT: &str = include_str!("sql/insert.sql");

impl Queue {
    /// Adds a message; its id is the one after the last, and above every ack level.
    ///
    /// # Errors
    /// [`Error::Missing`] before [`init`](Self::init), [`Error::OccExhausted`] when others took every id that it tried for.
    pub async fn enqueue(&self, blob: &Blob) -> Result<i64> {
        self.line.enqueue(blob).await
    }
}

impl Line {
    pub(super) async fn enqueue(&self, blob: &Blob) -> Result<i64> {
        let number = self.number;
        self.database
            .allocate(ENQUEUE, |tx| {
                Box::pin(async move {
                    // One after the other, never sent together: what the second sees must be from after the wait of the
                    // first. A lock on the last message instead, which a deletion may remove during the wait, leaves the
                    // one who waited with an id below the ack levels, that nobody reads.
                    let levels = tx.query_opt(LOCK_METADATA, &[&number]).await?;
                    let missing = Error::Missing { what: "the ack levels of the queue" };
                    let levels = levels.ok_or(Abort::Condition(missing))?;
                    let first = first_above(&Blob::of(&levels).map_err(Abort::Condition)?);
                    let (data, encoding) = (blob.data(), blob.encoding());
                    let row = tx.query_one(INSERT, &[&number, &first, &data, &encoding]).await?;
                    column(&row, "message_id").map_err(Abort::Condition)
                })
            })
            .await
    }
}
