//! Deletes the first messages.

use leasehold_txn::{Abort, Operation, Transaction};

use super::metadata::Metadata;
use super::{LOCK_QUEUE, NamedQueueKey, NamedQueues};
use crate::delete_in_batches::ROWS_MAX;
use crate::sql::column;
use crate::{Error, Result};

const DELETE_RANGE: Operation = Operation::new("state.delete_named_messages");
const SELECT_LAST: &str = include_str!("sql/select_last.sql");
const DELETE_MESSAGES: &str = include_str!("sql/delete_messages.sql");
const UPDATE_QUEUE: &str = include_str!("sql/update_queue.sql");

/// What one transaction did.
struct Step {
    deleted: i64,
    is_last: bool,
}

impl NamedQueues {
    /// Deletes the messages up to and with the id `last`; how many. Where the database bounds transactions it takes
    /// several, each of which deletes from the front: one that fails leaves the later messages.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`] before [`create`](Self::create), [`Error::InvalidRequest`] when `last` is below zero.
    pub async fn delete_range(&self, key: &NamedQueueKey, last: i64) -> Result<u64> {
        if last < 0 {
            return Err(Error::invalid("last", format!("must be at least 0, is {last}")));
        }
        let step_len = if self.database.is_dsql() { ROWS_MAX.cast_signed() } else { i64::MAX };
        let mut deleted = 0_i64;
        loop {
            let step = self
                .database
                .run(DELETE_RANGE, |tx| Box::pin(async move { step(tx, key, last, step_len).await }))
                .await?;
            deleted += step.deleted;
            if step.is_last {
                return Ok(deleted.unsigned_abs());
            }
        }
    }
}

/// Ids have no holes, so the first `step_len` of them are that many rows.
async fn step(
    tx: &Transaction<'_>,
    key: &NamedQueueKey,
    last: i64,
    step_len: i64,
) -> Result<Step, Abort<Error>> {
    let (queue_type, name) = (key.queue_type, key.name.as_str());
    let queue_values: leasehold_txn::Parameters<'_> = &[&queue_type, &name];
    let (queue, newest) =
        tokio::join!(tx.query_opt(LOCK_QUEUE, queue_values), tx.query_opt(SELECT_LAST, queue_values));
    let (queue, newest) = (queue?, newest?);
    let queue = queue.ok_or(Abort::Condition(Error::QueueNotFound { queue_type }))?;
    let first = Metadata::of(&queue).map_err(Abort::Condition)?.min_message_id;
    let newest = newest.map(|row| column::<i64>(&row, "message_id")).transpose().map_err(Abort::Condition)?;
    let Some((newest, wanted)) =
        newest.map(|newest| (newest, last.min(newest))).filter(|(_, wanted)| *wanted >= first)
    else {
        return Ok(Step { deleted: 0, is_last: true });
    };
    let through = wanted.min(first.saturating_add(step_len - 1));
    let metadata = Metadata { min_message_id: through + 1 }.blob();
    // The newest message stays, hidden by the minimum: it is what the next id is counted from.
    let delete_through = through.min(newest - 1);
    tx.execute_all(&[
        (DELETE_MESSAGES, &[&queue_type, &name, &delete_through]),
        (UPDATE_QUEUE, &[&queue_type, &name, &metadata.data(), &metadata.encoding()]),
    ])
    .await?;
    Ok(Step { deleted: through - first + 1, is_last: through == wanted })
}
