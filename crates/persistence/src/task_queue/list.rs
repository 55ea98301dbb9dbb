//! Lists task queues.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::key::{RowKey, StoredId};
use super::{TaskQueue, TaskQueueKey, TaskQueues};
use crate::sql::column;
use crate::{Blob, Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_task_queues");

/// A task queue in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTaskQueue {
    /// Which one; nothing on DSQL, whose keys do not tell. [`Inspector::task_queues`](crate::Inspector::task_queues) asks
    /// the owner's blob.
    pub key: Option<TaskQueueKey>,
    /// The queue.
    pub queue: TaskQueue,
}

impl TaskQueues {
    /// All queues, in the order of their hashes, from `after` on. While none come and go, each is listed once.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list(
        &self,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<ListedTaskQueue>> {
        let is_dsql = self.database.is_dsql();
        let last = match after {
            // Hashes are not negative. An id of another length does not fit a UUID.
            None => RowKey { range_hash: -1, id: StoredId(vec![0; StoredId::HASHED_LEN]) },
            Some(token) => last_of(token, is_dsql)?,
        };
        let values: leasehold_txn::Parameters<'_> = &[&last.range_hash, &last.id, &page_size.limit()];
        let rows = self.database.read(LIST, self.tables.list, values).await?;
        let queues = rows.iter().map(|row| listed(row, is_dsql)).collect::<Result<Vec<_>>>()?;
        let page = Page::new(queues, page_size, |(key, _)| Some(token_after(key)));
        Ok(Page { items: page.items.into_iter().map(|(_, queue)| queue).collect(), next: page.next })
    }
}

fn listed(row: &Row, is_dsql: bool) -> Result<(RowKey, ListedTaskQueue)> {
    let row_key = RowKey { range_hash: column(row, "range_hash")?, id: column(row, "task_queue_id")? };
    let queue = TaskQueue { range_id: column(row, "range_id")?, blob: Blob::of(row)? };
    let key = if is_dsql { None } else { TaskQueueKey::of_id(&row_key.id) };
    Ok((row_key, ListedTaskQueue { key, queue }))
}

/// The id as it is stored, not as it is made: what is made is a hash on DSQL, and a hash of that finds nothing.
fn token_after(last: &RowKey) -> PageToken {
    PageToken::from_bytes([&last.range_hash.to_le_bytes()[..], &last.id.0].concat())
}

fn last_of(token: &PageToken, is_dsql: bool) -> Result<RowKey> {
    let (range_hash, id) = token.as_bytes().split_first_chunk::<8>().ok_or_else(PageToken::malformed)?;
    if is_dsql && id.len() != StoredId::HASHED_LEN {
        return Err(PageToken::malformed());
    }
    Ok(RowKey { range_hash: i64::from_le_bytes(*range_hash), id: StoredId(id.to_vec()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_reads_back_and_nothing_else_is_taken() {
        let key = RowKey { range_hash: 7, id: StoredId(vec![1, 2, 3]) };
        assert_eq!(last_of(&token_after(&key), false).expect("a key"), key);
        assert!(last_of(&token_after(&key), true).is_err());
        assert!(last_of(&PageToken::from_bytes(vec![0; 7]), false).is_err());
    }
}
