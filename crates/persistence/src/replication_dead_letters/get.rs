//! Reads tasks that could not be applied, a page at a time.

use std::ops::Range;

use leasehold_txn::Operation;

use super::ReplicationDeadLetters;
use crate::sql::{Sql, column};
use crate::{Blob, Category, HistoryTask, Page, PageSize, PageToken, Result};

const GET: Operation = Operation::new("state.get_replication_dead_letters");
const SELECT: Sql = Sql::same(include_str!("sql/select.sql"));

impl ReplicationDeadLetters {
    /// The tasks with these ids, in order; `after` is the token of the page before.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn get(
        &self,
        ids: Range<i64>,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<HistoryTask>> {
        let first = after.map_or(Ok(ids.start), |token| token.id_in(&ids))?;
        let values: leasehold_txn::Parameters<'_> =
            &[&self.source_cluster, &self.shard_id, &first, &ids.end, &page_size.limit()];
        let rows = self.database.read(GET, SELECT, values).await?;
        let tasks = rows.iter().map(|row| {
            HistoryTask::immediate(Category::REPLICATION, column(row, "task_id")?, Blob::of(row)?)
        });
        let token = |last: &HistoryTask| PageToken::after_id(last.task_id(), &ids);
        Ok(Page::new(tasks.collect::<Result<_>>()?, page_size, token))
    }
}
