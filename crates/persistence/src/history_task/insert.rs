//! Writes tasks inside the transaction that gave rise to them.

use super::{HistoryTask, Table};
use crate::batch::{Miss, Step, Value};
use crate::shard::ShardId;
use crate::time::Stored;

const INSERT_TRANSFER: &str = include_str!("sql/insert_transfer.sql");
const INSERT_TIMER: &str = include_str!("sql/insert_timer.sql");
const INSERT_REPLICATION: &str = include_str!("sql/insert_replication.sql");
const INSERT_VISIBILITY: &str = include_str!("sql/insert_visibility.sql");
const INSERT_IMMEDIATE: &str = include_str!("sql/insert_immediate.sql");
const INSERT_SCHEDULED: &str = include_str!("sql/insert_scheduled.sql");

/// A statement per category, in the order of the categories and of the tasks in them: one order for every writer.
pub(crate) fn insertions<'r>(
    shard_id: ShardId,
    tasks: impl IntoIterator<Item = &'r HistoryTask>,
) -> Vec<Step<'r>> {
    let mut tasks: Vec<_> = tasks.into_iter().collect();
    tasks.sort_by_key(|task| (task.category, task.visibility, task.task_id));
    let groups = tasks.chunk_by(|one, next| one.category == next.category);
    groups.map(|group| insertion(shard_id, group)).collect()
}

fn insertion<'r>(shard_id: ShardId, tasks: &[&'r HistoryTask]) -> Step<'r> {
    let category = tasks[0].category;
    let mut values: Vec<Value<'r>> = vec![
        Box::new(shard_id),
        Box::new(tasks.iter().map(|task| task.task_id).collect::<Vec<_>>()),
        Box::new(tasks.iter().map(|task| task.blob.data()).collect::<Vec<_>>()),
        Box::new(tasks.iter().map(|task| task.blob.encoding()).collect::<Vec<_>>()),
    ];
    if category.is_scheduled() {
        let visibilities = tasks.iter().filter_map(|task| task.visibility).map(Stored);
        values.push(Box::new(visibilities.collect::<Vec<_>>()));
    }
    let sql = match category.table() {
        Table::Transfer => INSERT_TRANSFER,
        Table::Timer => INSERT_TIMER,
        Table::Replication => INSERT_REPLICATION,
        Table::Visibility => INSERT_VISIBILITY,
        Table::Immediate => {
            values.push(Box::new(category.id()));
            INSERT_IMMEDIATE
        }
        Table::Scheduled => {
            values.push(Box::new(category.id()));
            INSERT_SCHEDULED
        }
    };
    Step { sql, values, expected: Some((tasks.len() as u64, Miss::HistoryTask)) }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Timestamp;

    use super::*;
    use crate::{Blob, Category};

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
        let written: Vec<_> = insertions(1, &tasks)
            .iter()
            .map(|step| {
                let table = step.sql.split_whitespace().skip_while(|word| *word != "INTO").nth(1);
                (
                    table.expect("a table"),
                    format!("{:?}", step.values[1]),
                    step.expected.map(|(rows, _)| rows),
                )
            })
            .collect();
        let expected = [
            ("transfer_tasks", "[4, 5]", 2),
            ("timer_tasks", "[6]", 1),
            ("replication_tasks", "[7]", 1),
            ("visibility_tasks", "[2]", 1),
            ("history_immediate_tasks", "[3]", 1),
            ("history_scheduled_tasks", "[1]", 1),
        ];
        assert_eq!(written, expected.map(|(table, ids, rows)| (table, ids.to_owned(), Some(rows))));
    }
}
