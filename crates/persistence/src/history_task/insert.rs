//! Writes tasks inside the transaction that gave rise to them.

use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{Abort, Transaction};

use super::{Category, HistoryTask, Table};
use crate::shard::ShardId;
use crate::time::Stored;
use crate::{Error, Result};

const INSERT_TRANSFER: &str = include_str!("sql/insert_transfer.sql");
const INSERT_TIMER: &str = include_str!("sql/insert_timer.sql");
const INSERT_REPLICATION: &str = include_str!("sql/insert_replication.sql");
const INSERT_VISIBILITY: &str = include_str!("sql/insert_visibility.sql");
const INSERT_IMMEDIATE: &str = include_str!("sql/insert_immediate.sql");
const INSERT_SCHEDULED: &str = include_str!("sql/insert_scheduled.sql");

/// Tasks as columns, a group per category in the order of the categories: one order for every writer, so that two of them
/// never wait for each other.
#[derive(Debug)]
pub(crate) struct Insertions<'r> {
    shard_id: ShardId,
    groups: Vec<Group<'r>>,
}

#[derive(Debug)]
struct Group<'r> {
    category: Category,
    category_id: i32,
    task_ids: Vec<i64>,
    data: Vec<&'r [u8]>,
    encodings: Vec<&'r str>,
    visibilities: Vec<Stored>,
}

impl<'r> Insertions<'r> {
    pub(crate) fn new(shard_id: ShardId, tasks: impl IntoIterator<Item = &'r HistoryTask>) -> Self {
        let mut tasks: Vec<_> = tasks.into_iter().collect();
        tasks.sort_by_key(|task| (task.category, task.visibility, task.task_id));
        let groups = tasks.chunk_by(|one, next| one.category == next.category).map(Group::new).collect();
        Self { shard_id, groups }
    }

    /// Each statement, its values, and how many rows it must touch.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (&'static str, Vec<&(dyn ToSql + Sync)>, u64)> {
        self.groups.iter().map(|group| {
            let (sql, values) = group.statement(&self.shard_id);
            (sql, values, group.task_ids.len() as u64)
        })
    }

    /// Writes all of them in one round trip.
    pub(crate) async fn execute(&self, tx: &Transaction<'_>) -> Result<(), Abort<Error>> {
        let statements: Vec<_> = self.statements().collect();
        let borrowed: Vec<_> = statements.iter().map(|(sql, values, _)| (*sql, values.as_slice())).collect();
        let touched = tx.execute_all(&borrowed).await?;
        if statements.iter().zip(touched).any(|((_, _, expected), touched)| touched != *expected) {
            return Err(Abort::Condition(Error::Missing { what: "a history task that was just written" }));
        }
        Ok(())
    }
}

impl<'r> Group<'r> {
    fn new(tasks: &[&'r HistoryTask]) -> Self {
        let category = tasks[0].category;
        Self {
            category,
            category_id: category.id(),
            task_ids: tasks.iter().map(|task| task.task_id).collect(),
            data: tasks.iter().map(|task| task.blob.data()).collect(),
            encodings: tasks.iter().map(|task| task.blob.encoding()).collect(),
            visibilities: tasks.iter().filter_map(|task| task.visibility).map(Stored).collect(),
        }
    }

    fn statement<'s>(&'s self, shard_id: &'s ShardId) -> (&'static str, Vec<&'s (dyn ToSql + Sync)>) {
        let mut values: Vec<&(dyn ToSql + Sync)> =
            vec![shard_id, &self.task_ids, &self.data, &self.encodings];
        if self.category.is_scheduled() {
            values.push(&self.visibilities);
        }
        let sql = match self.category.table() {
            Table::Transfer => INSERT_TRANSFER,
            Table::Timer => INSERT_TIMER,
            Table::Replication => INSERT_REPLICATION,
            Table::Visibility => INSERT_VISIBILITY,
            Table::Immediate => {
                values.push(&self.category_id);
                INSERT_IMMEDIATE
            }
            Table::Scheduled => {
                values.push(&self.category_id);
                INSERT_SCHEDULED
            }
        };
        (sql, values)
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Timestamp;

    use super::*;
    use crate::Blob;

    #[test]
    fn tasks_are_written_by_category_in_one_order() {
        let blob = || Blob::proto3(vec![1]);
        let immediate = |category, id| HistoryTask::immediate(category, id, blob()).expect("a task");
        let at = |category, id| {
            HistoryTask::scheduled(category, Timestamp::from_micros(id), id, blob()).expect("a task")
        };
        let tasks = [
            at(Category::scheduled(9).expect("a category"), 1),
            immediate(Category::VISIBILITY, 2),
            immediate(Category::immediate(7).expect("a category"), 3),
            immediate(Category::TRANSFER, 5),
            at(Category::TIMER, 6),
            immediate(Category::TRANSFER, 4),
            immediate(Category::REPLICATION, 7),
        ];
        let insertions = Insertions::new(1, &tasks);
        let order: Vec<_> =
            insertions.groups.iter().map(|group| (group.category_id, group.task_ids.clone())).collect();
        let expected =
            [(1, vec![4, 5]), (2, vec![6]), (3, vec![7]), (4, vec![2]), (7, vec![3]), (9, vec![1])];
        assert_eq!(order, expected);
        let counts: Vec<_> =
            insertions.statements().map(|(_, values, count)| (values.len(), count)).collect();
        assert_eq!(counts, [(4, 2), (5, 1), (4, 1), (4, 1), (5, 1), (6, 1)]);
    }
}
