//! Reads the tasks of a shard, a page at a time.

use std::ops::Range;

use leasehold_core::Timestamp;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::range::Bounds;
use super::tables::Statements;
use super::{Category, HistoryTask, HistoryTaskRange, HistoryTasks};
use crate::shard::ShardId;
use crate::sql::column;
use crate::time::Stored;
use crate::{Blob, Page, PageSize, PageToken, Result};

const GET: Operation = Operation::new("state.get_history_tasks");

impl HistoryTasks {
    /// The tasks of a range in the order in which they are to be done; `after` is the token of the page before.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn get(
        &self,
        shard_id: ShardId,
        range: &HistoryTaskRange,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<HistoryTask>> {
        match &range.bounds {
            Bounds::Ids(ids) => self.get_immediate(shard_id, range.category, ids, page_size, after).await,
            Bounds::Times(times) => {
                self.get_scheduled(shard_id, range.category, times, page_size, after).await
            }
        }
    }

    async fn get_immediate(
        &self,
        shard_id: ShardId,
        category: Category,
        ids: &Range<i64>,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<HistoryTask>> {
        let first = after.map_or(Ok(ids.start), |token| token.id_in(ids))?;
        let values: leasehold_txn::Parameters<'_> =
            &[&shard_id, &category.id(), &first, &ids.end, &page_size.limit()];
        let rows = self.database.read(GET, Statements::of(category.table()).select, values).await?;
        let tasks = rows.iter().map(|row| {
            Ok(HistoryTask {
                category,
                task_id: column(row, "task_id")?,
                visibility: None,
                blob: Blob::of(row)?,
            })
        });
        let token = |last: &HistoryTask| PageToken::after_id(last.task_id, ids);
        Ok(Page::new(tasks.collect::<Result<_>>()?, page_size, token))
    }

    async fn get_scheduled(
        &self,
        shard_id: ShardId,
        category: Category,
        times: &Range<Timestamp>,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<HistoryTask>> {
        let (first_time, first_id) = match after {
            None => (times.start, i64::MIN),
            Some(token) => {
                let next = next_time(token).filter(|(time, _)| times.contains(time));
                next.ok_or_else(PageToken::malformed)?
            }
        };
        let (first_time, end) = (Stored(first_time), Stored(times.end));
        let values: leasehold_txn::Parameters<'_> =
            &[&shard_id, &category.id(), &first_time, &first_id, &end, &page_size.limit()];
        let rows = self.database.read(GET, Statements::of(category.table()).select, values).await?;
        let tasks = rows.iter().map(|row| scheduled(category, row)).collect::<Result<Vec<_>>>()?;
        let page =
            Page::new(tasks, page_size, |(time, task)| token_after_time(*time, task.task_id, times.end));
        Ok(Page { items: page.items.into_iter().map(|(_, task)| task).collect(), next: page.next })
    }
}

fn scheduled(category: Category, row: &Row) -> Result<(Timestamp, HistoryTask)> {
    let Stored(time) = column(row, "visibility_timestamp")?;
    let task_id = column(row, "task_id")?;
    Ok((time, HistoryTask { category, task_id, visibility: Some(time), blob: Blob::of(row)? }))
}

/// The id next to the last at its time, or the next time where there is none.
fn token_after_time(time: Timestamp, last: i64, end: Timestamp) -> Option<PageToken> {
    let (micros, id) = match last.checked_add(1) {
        Some(next) => (time.as_micros(), next),
        None => (time.as_micros().checked_add(1)?, i64::MIN),
    };
    (micros < end.as_micros()).then(|| PageToken::of_numbers([micros, id]))
}

fn next_time(token: &PageToken) -> Option<(Timestamp, i64)> {
    let [micros, id] = token.numbers().ok()?;
    Some((Timestamp::from_micros(micros), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_page_begins_behind_the_last_task() {
        let at = Timestamp::from_micros;
        let next = |time, last| token_after_time(at(time), last, at(9)).as_ref().and_then(next_time);
        assert_eq!(next(3, 5), Some((at(3), 6)));
        assert_eq!(next(3, i64::MAX), Some((at(4), i64::MIN)));
        assert_eq!(next(8, i64::MAX), None);
    }
}
