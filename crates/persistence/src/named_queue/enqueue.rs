//! Adds a message behind the last one.

use leasehold_txn::{Abort, Operation};

use super::metadata::Metadata;
use super::{LOCK_QUEUE, NamedQueueKey, NamedQueues};
use crate::sql::column;
use crate::{Blob, Error, Result};

const ENQUEUE: Operation = Operation::new("state.enqueue_named_message");
const INSERT_MESSAGE: &str = include_str!("sql/insert_message.sql");

impl NamedQueues {
    /// Adds a message; its id is the one after the last.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`] before [`create`](Self::create), [`Error::OccExhausted`] when others took every id that it
    /// tried for.
    pub async fn enqueue(&self, key: &NamedQueueKey, blob: &Blob) -> Result<i64> {
        let (queue_type, name) = (key.queue_type, key.name.as_str());
        self.database
            .allocate(ENQUEUE, |tx| {
                Box::pin(async move {
                    // One after the other, never sent together: what the second sees must be from after the wait of the
                    // first. A lock on the last message instead, which a deletion may remove during the wait, leaves the
                    // one who waited with an id that nobody reads.
                    let queue = tx.query_opt(LOCK_QUEUE, &[&queue_type, &name]).await?;
                    let queue = queue.ok_or(Abort::Condition(Error::QueueNotFound { queue_type }))?;
                    let first = Metadata::of(&queue).map_err(Abort::Condition)?.min_message_id;
                    let (data, encoding) = (blob.data(), blob.encoding());
                    let values: leasehold_txn::Parameters<'_> =
                        &[&queue_type, &name, &first, &data, &encoding];
                    let row = tx.query_one(INSERT_MESSAGE, values).await?;
                    column(&row, "message_id").map_err(Abort::Condition)
                })
            })
            .await
    }
}
