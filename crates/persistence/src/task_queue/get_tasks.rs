//! Reads the tasks of a queue, a page at a time.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::Row;

use super::{SubQueue, TaskLevel, TaskQueueKey, TaskQueues};
use crate::sql::column;
use crate::{Blob, Error, Page, PageSize, PageToken, Result};

const GET_TASKS: Operation = Operation::new("state.get_tasks");

/// Which tasks are read: those of one part of a queue, from a level on.
#[derive(Clone, Debug)]
pub struct GetTasks {
    /// The part.
    pub sub_queue: SubQueue,
    /// The first level that is read.
    pub from: TaskLevel,
    /// The id below which to stay; only for queues without passes.
    pub below_task_id: Option<i64>,
    /// How many at once.
    pub page_size: PageSize,
}

/// A task as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Where it stands.
    pub level: TaskLevel,
    /// The task.
    pub blob: Blob,
}

impl TaskQueues {
    /// Tasks in the order of their levels; `after` is the token of the page before.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when a pass is not one of these queues, a bound is given where there are passes, or the
    /// token is not of this list.
    pub async fn get_tasks(
        &self,
        key: &TaskQueueKey,
        request: &GetTasks,
        after: Option<&PageToken>,
    ) -> Result<Page<Task>> {
        self.check_pass(request.from)?;
        if self.tables.has_passes && request.below_task_id.is_some() {
            return Err(Error::invalid(
                "below_task_id",
                "must not be given where tasks have passes".to_owned(),
            ));
        }
        let from = match after {
            None => request.from,
            Some(token) => {
                next_of(token).filter(|next| *next > request.from).ok_or_else(PageToken::malformed)?
            }
        };
        self.check_pass(from)?;
        let row = self.row_key(key, request.sub_queue);
        let (limit, below) = (request.page_size.limit(), request.below_task_id.unwrap_or(i64::MAX));
        let last = if self.tables.has_passes { &from.pass } else { &below };
        let values: leasehold_txn::Parameters<'_> = &[&row.range_hash, &row.id, &from.task_id, &limit, last];
        let rows = self.database.read(GET_TASKS, self.tables.select_tasks, values).await?;
        let tasks = rows.iter().map(|row| self.task(row)).collect::<Result<_>>()?;
        Ok(Page::new(tasks, request.page_size, |last: &Task| token_after(last.level, below)))
    }

    fn task(&self, row: &Row) -> Result<Task> {
        let pass = if self.tables.has_passes { column(row, "pass")? } else { 0 };
        Ok(Task { level: TaskLevel { pass, task_id: column(row, "task_id")? }, blob: Blob::of(row)? })
    }
}

/// The level next to the last; nothing when that is not read any more.
fn token_after(last: TaskLevel, below: i64) -> Option<PageToken> {
    match last.task_id.checked_add(1) {
        Some(next) if next < below || last.pass > 0 => Some(PageToken::of_numbers([last.pass, next])),
        Some(_) => None,
        None if last.pass > 0 => Some(PageToken::of_numbers([last.pass.checked_add(1)?, i64::MIN])),
        None => None,
    }
}

fn next_of(token: &PageToken) -> Option<TaskLevel> {
    let [pass, task_id] = token.numbers().ok()?;
    Some(TaskLevel { pass, task_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_page_begins_behind_the_last_task() {
        let next = |pass, task_id, below| {
            token_after(TaskLevel { pass, task_id }, below).map(|token| next_of(&token).expect("a level"))
        };
        assert_eq!(next(0, 5, 9), Some(TaskLevel { pass: 0, task_id: 6 }));
        assert_eq!(next(0, 8, 9), None);
        assert_eq!(next(0, i64::MAX - 1, i64::MAX), None);
        assert_eq!(next(2, 8, i64::MAX), Some(TaskLevel { pass: 2, task_id: 9 }));
        assert_eq!(next(2, i64::MAX, i64::MAX), Some(TaskLevel { pass: 3, task_id: i64::MIN }));
        assert_eq!(next(i64::MAX, i64::MAX, i64::MAX), None);
    }
}
