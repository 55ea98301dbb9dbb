//! Adds a message behind the last one.

use leasehold_txn::{Abort, Operation};

use super::{NamedQueueKey, NamedQueues};
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const ENQUEUE: Operation = Operation::new("state.enqueue_named_message");
pub(super) const SELECT_QUEUE: Sql = Sql::same(include_str!("sql/select_queue.sql"));
/// What a lock is worth here: see [`Database::allocate`](crate::Database). Where nobody waits the key alone decides.
const LOCK_LAST: Sql = Sql {
    postgres: include_str!("sql/lock_last.postgres.sql"),
    dsql: include_str!("sql/lock_last.dsql.sql"),
};
const INSERT_MESSAGE: &str = include_str!("sql/insert_message.sql");

impl NamedQueues {
    /// Adds a message; its id is the one after the last.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`] before [`create`](Self::create), [`Error::OccExhausted`] when others took every id that it
    /// tried for.
    pub async fn enqueue(&self, key: &NamedQueueKey, blob: &Blob) -> Result<i64> {
        let (queue_type, name) = (key.queue_type, key.name.as_str());
        let (select_queue, lock_last) = (self.database.words(SELECT_QUEUE), self.database.words(LOCK_LAST));
        self.database
            .allocate(ENQUEUE, |tx| {
                Box::pin(async move {
                    let values: leasehold_txn::Parameters<'_> = &[&queue_type, &name];
                    // Queues are never deleted: one that is there stays there.
                    let (queue, last) =
                        tokio::join!(tx.query_opt(select_queue, values), tx.query_opt(lock_last, values));
                    let (queue, last) = (queue?, last?);
                    if queue.is_none() {
                        return Err(Abort::Condition(Error::QueueNotFound { queue_type }));
                    }
                    let last = last.map(|row| column::<i64>(&row, "message_id")).transpose();
                    let id = last.map_err(Abort::Condition)?.map_or(0, |last| last + 1);
                    let (data, encoding) = (blob.data(), blob.encoding());
                    tx.execute(INSERT_MESSAGE, &[&queue_type, &name, &id, &data, &encoding]).await?;
                    Ok(id)
                })
            })
            .await
    }
}
