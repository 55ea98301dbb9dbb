//! Lists the queues of a type, by name.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::metadata::Metadata;
use super::{NamedQueue, NamedQueueKey, NamedQueues};
use crate::sql::{Sql, column};
use crate::{Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_queues");
const SELECT_QUEUES: Sql = Sql::same(include_str!("sql/select_queues.sql"));

impl NamedQueues {
    /// A page of the queues of a type, in the order of their names. One that is made meanwhile moves no other into
    /// the next page, or out of it.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list(
        &self,
        queue_type: i32,
        page_size: PageSize,
        token: Option<&PageToken>,
    ) -> Result<Page<NamedQueue>> {
        let after = token.map(PageToken::name).transpose()?.unwrap_or_default();
        let rows =
            self.database.read(LIST, SELECT_QUEUES, &[&queue_type, &after, &page_size.limit()]).await?;
        let queues = rows.iter().map(|row| named_queue(queue_type, row)).collect::<Result<Vec<_>>>()?;
        Ok(Page::new(queues, page_size, |last| Some(PageToken::from_bytes(last.key.name.as_bytes()))))
    }
}

fn named_queue(queue_type: i32, row: &Row) -> Result<NamedQueue> {
    let min_message_id = Metadata::of(row)?.min_message_id;
    let last: Option<i64> = column(row, "last_message_id")?;
    Ok(NamedQueue {
        key: NamedQueueKey { queue_type, name: column(row, "queue_name")? },
        message_count: last.map_or(0, |last| last - min_message_id + 1),
        min_message_id,
    })
}
