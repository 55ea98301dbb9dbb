//! History tasks: read in the order in which they are to be done, each once, and deleted when they are.

use std::ops::Range;

use leasehold_core::Timestamp;
use leasehold_persistence::{
    Blob, Category, Error, HistoryTask, HistoryTaskKey, HistoryTaskRange, HistoryTasks, PageSize, PageToken,
    ReplicationDeadLetters,
};

use crate::fixture::{Dice, Fixture, all_pages};

macro_rules! history_task_cases {
    ($target:ident) => {
        $target!(
            history_task:
            pages_hold_every_immediate_task_once_at_any_size,
            pages_hold_every_scheduled_task_once_at_any_size,
            tokens_of_immediate_tasks_are_those_of_temporal,
            completed_task_is_gone_and_others_are_not,
            completed_range_is_gone_and_others_are_not,
            more_tasks_than_a_transaction_takes_are_completed,
            dead_letter_is_kept_once_and_by_its_source,
            pages_hold_every_dead_letter_once_at_any_size,
            more_dead_letters_than_a_transaction_takes_are_deleted,
        );
    };
}

impl Fixture {
    pub(crate) fn history_tasks(&self) -> HistoryTasks {
        HistoryTasks::new(self.database.clone())
    }

    async fn add(&self, tasks: &[HistoryTask]) {
        for some in tasks.chunks(500) {
            self.executions().add_history_tasks(1, 1, some).await.expect("tasks");
        }
    }

    fn dead_letters(&self, source_cluster: &str, shard_id: i32) -> ReplicationDeadLetters {
        ReplicationDeadLetters::new(self.database.clone(), source_cluster, shard_id).expect("dead letters")
    }
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + micros)
}

fn immediate_categories() -> [Category; 5] {
    let other = |id| Category::immediate(id).expect("a category");
    [Category::TRANSFER, Category::REPLICATION, Category::VISIBILITY, other(5), other(6)]
}

fn scheduled_categories() -> [Category; 3] {
    let other = |id| Category::scheduled(id).expect("a category");
    [Category::TIMER, other(5), other(6)]
}

fn immediate(category: Category, task_id: i64) -> HistoryTask {
    let blob = Blob::proto3(format!("{}/{task_id}", category.id()).into_bytes());
    HistoryTask::immediate(category, task_id, blob).expect("a task")
}

fn scheduled(category: Category, micros: i64, task_id: i64) -> HistoryTask {
    let blob = Blob::proto3(format!("{}/{micros}/{task_id}", category.id()).into_bytes());
    HistoryTask::scheduled(category, at(micros), task_id, blob).expect("a task")
}

fn ids(category: Category, ids: Range<i64>) -> HistoryTaskRange {
    HistoryTaskRange::ids(category, ids).expect("a range")
}

fn times(category: Category, micros: Range<i64>) -> HistoryTaskRange {
    HistoryTaskRange::times(category, at(micros.start)..at(micros.end)).expect("a range")
}

async fn read(tasks: &HistoryTasks, range: &HistoryTaskRange, size: usize) -> Vec<HistoryTask> {
    all_pages(size, |page_size, token| async move {
        tasks.get(1, range, page_size, token.as_ref()).await.expect("a page")
    })
    .await
}

/// Property 2: what is read is what was added, at any size of page, in any range, each category for itself.
pub(crate) async fn pages_hold_every_immediate_task_once_at_any_size(fixture: &Fixture) {
    fixture.shard(1).await;
    let (tasks, mut dice) = (fixture.history_tasks(), Dice(21));
    for category in immediate_categories() {
        let wanted: std::collections::BTreeSet<i64> = (0..25).map(|_| dice.between(-3..=40)).collect();
        let added: Vec<_> = wanted.iter().map(|id| immediate(category, *id)).collect();
        fixture.add(&added).await;
        for _ in 0..20 {
            let start = dice.between(-5..=40);
            let range = start..start + dice.between(0..=50);
            let size = usize::try_from(dice.between(1..=8)).expect("a size");
            let found = read(&tasks, &ids(category, range.clone()), size).await;
            let wanted: Vec<_> = wanted.range(range.clone()).map(|id| immediate(category, *id)).collect();
            assert_eq!(found, wanted, "{range:?} of {category:?} in pages of {size}");
        }
    }
    assert_eq!(
        tasks.get(2, &ids(Category::TRANSFER, 0..99), PageSize::MAX, None).await.expect("none").items,
        []
    );
}

/// Property 2: the same by time, and by id where the time is the same.
pub(crate) async fn pages_hold_every_scheduled_task_once_at_any_size(fixture: &Fixture) {
    fixture.shard(1).await;
    let (tasks, mut dice) = (fixture.history_tasks(), Dice(22));
    for category in scheduled_categories() {
        let mut wanted: std::collections::BTreeSet<(i64, i64)> =
            (0..30).map(|_| (dice.between(0..=9), dice.between(-3..=5))).collect();
        wanted.extend([(4, i64::MIN), (4, i64::MAX), (5, i64::MAX)]);
        let added: Vec<_> = wanted.iter().map(|&(micros, id)| scheduled(category, micros, id)).collect();
        fixture.add(&added).await;
        for _ in 0..34 {
            let start = dice.between(-1..=9);
            let range = start..start + dice.between(0..=11);
            let size = usize::try_from(dice.between(1..=8)).expect("a size");
            let found = read(&tasks, &times(category, range.clone()), size).await;
            let wanted: Vec<_> = wanted
                .iter()
                .filter(|(micros, _)| range.contains(micros))
                .map(|&(micros, id)| scheduled(category, micros, id))
                .collect();
            assert_eq!(found, wanted, "{range:?} of {category:?} in pages of {size}");
        }
    }
}

pub(crate) async fn tokens_of_immediate_tasks_are_those_of_temporal(fixture: &Fixture) {
    fixture.shard(1).await;
    let tasks = fixture.history_tasks();
    fixture.add(&[immediate(Category::TRANSFER, 5), immediate(Category::TRANSFER, 8)]).await;
    let size = PageSize::new(2).expect("a size");
    let page = tasks.get(1, &ids(Category::TRANSFER, 1..10), size, None).await.expect("a page");
    assert_eq!(page.next, Some(PageToken::from_bytes(9_i64.to_le_bytes())));
    let page = tasks.get(1, &ids(Category::TRANSFER, 1..9), size, None).await.expect("a page");
    assert_eq!(page.next, None);
    for (range, len) in [
        (ids(Category::TRANSFER, 1..10), 7),
        (ids(Category::TRANSFER, 1..10), 8),
        (times(Category::TIMER, 0..9), 8),
        (times(Category::TIMER, 0..9), 16),
    ] {
        let token = PageToken::from_bytes(vec![0xff; len]);
        let error = tasks.get(1, &range, size, Some(&token)).await.expect_err("no token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

pub(crate) async fn completed_task_is_gone_and_others_are_not(fixture: &Fixture) {
    fixture.shard(1).await;
    let tasks = fixture.history_tasks();
    for category in immediate_categories() {
        fixture.add(&[immediate(category, 5), immediate(category, 6)]).await;
        for _ in 0..2 {
            tasks.complete(1, &immediate(category, 5).key()).await.expect("a completion");
        }
        assert_eq!(read(&tasks, &ids(category, 0..9), 10).await, [immediate(category, 6)]);
    }
    for category in scheduled_categories() {
        let (done, same_time, same_id) =
            (scheduled(category, 5, 5), scheduled(category, 5, 6), scheduled(category, 6, 5));
        fixture.add(&[done.clone(), same_time.clone(), same_id.clone()]).await;
        let key = HistoryTaskKey::new(category, Some(at(5)), 5).expect("a key");
        assert_eq!(key, done.key());
        tasks.complete(1, &key).await.expect("a completion");
        assert_eq!(read(&tasks, &times(category, 0..9), 10).await, [same_time, same_id]);
    }
}

pub(crate) async fn completed_range_is_gone_and_others_are_not(fixture: &Fixture) {
    fixture.shard(1).await;
    let tasks = fixture.history_tasks();
    for category in immediate_categories() {
        let added: Vec<_> = (0..10).map(|id| immediate(category, id)).collect();
        fixture.add(&added).await;
        for (range, left) in [(3..3, 0..10), (0..4, 4..10), (8..20, 4..8)] {
            tasks.complete_range(1, &ids(category, range)).await.expect("a completion");
            assert_eq!(read(&tasks, &ids(category, 0..10), 10).await, added[left]);
        }
    }
    for category in scheduled_categories() {
        let added: Vec<_> = (0..10).map(|id| scheduled(category, id / 2, id)).collect();
        fixture.add(&added).await;
        for (range, left) in [(3..3, 0..10), (0..2, 4..10), (4..9, 4..8)] {
            tasks.complete_range(1, &times(category, range)).await.expect("a completion");
            assert_eq!(read(&tasks, &times(category, 0..10), 10).await, added[left]);
        }
    }
}

pub(crate) async fn more_tasks_than_a_transaction_takes_are_completed(fixture: &Fixture) {
    fixture.shard(1).await;
    let tasks = fixture.history_tasks();
    let outside = fixture.outside().await;
    fixture.add(&[immediate(Category::TRANSFER, 0), scheduled(Category::TIMER, 0, 0)]).await;
    for many in [
        "INSERT INTO transfer_tasks SELECT shard_id, more, data, data_encoding \
         FROM transfer_tasks, generate_series(1, 3001) AS more",
        "INSERT INTO timer_tasks SELECT shard_id, visibility_timestamp + make_interval(secs => more % 7), more, data, \
         data_encoding FROM timer_tasks, generate_series(1, 3001) AS more",
    ] {
        outside.batch_execute(many).await.expect("many tasks");
    }
    tasks.complete_range(1, &ids(Category::TRANSFER, 0..3001)).await.expect("a completion");
    let left = read(&tasks, &ids(Category::TRANSFER, 0..9999), 10).await;
    assert_eq!(left.iter().map(HistoryTask::task_id).collect::<Vec<_>>(), [3001]);
    tasks.complete_range(1, &times(Category::TIMER, 0..6_000_000)).await.expect("a completion");
    let left = read(&tasks, &times(Category::TIMER, 0..60_000_000), 1000).await;
    assert!(left.iter().all(|task| task.task_id() % 7 == 6), "{left:?}");
    assert_eq!(left.len(), 428);
}

pub(crate) async fn dead_letter_is_kept_once_and_by_its_source(fixture: &Fixture) {
    let (east, west, other) =
        (fixture.dead_letters("east", 1), fixture.dead_letters("west", 1), fixture.dead_letters("east", 2));
    assert!(east.is_empty(i64::MIN).await.expect("an answer"));
    let (first, again) = (Blob::proto3(vec![1]), Blob::proto3(vec![2]));
    east.put(5, &first).await.expect("a letter");
    east.put(5, &again).await.expect("a letter that is there");
    let kept = HistoryTask::immediate(Category::REPLICATION, 5, first).expect("a task");
    assert_eq!(east.get(0..9, PageSize::MAX, None).await.expect("a page").items, [kept]);
    for (letters, from, is_empty) in
        [(&east, 5, false), (&east, 6, true), (&west, 0, true), (&other, 0, true)]
    {
        assert_eq!(letters.is_empty(from).await.expect("an answer"), is_empty);
    }
    west.delete(5).await.expect("a deletion");
    assert!(!east.is_empty(0).await.expect("an answer"));
    east.delete(5).await.expect("a deletion");
    assert!(east.is_empty(0).await.expect("an answer"));
    let error = ReplicationDeadLetters::new(fixture.database.clone(), "", 1).expect_err("no name");
    assert!(matches!(error, Error::InvalidRequest { field: "source_cluster", .. }), "{error:?}");
}

/// Property 2: what is read is what was put, at any size of page, in any range.
pub(crate) async fn pages_hold_every_dead_letter_once_at_any_size(fixture: &Fixture) {
    let (letters, mut dice) = (fixture.dead_letters("east", 1), Dice(23));
    let wanted: std::collections::BTreeSet<i64> = (0..25).map(|_| dice.between(-3..=40)).collect();
    for task_id in &wanted {
        letters.put(*task_id, &Blob::proto3(vec![1])).await.expect("a letter");
    }
    for _ in 0..100 {
        let start = dice.between(-5..=40);
        let range = &(start..start + dice.between(1..=50));
        let size = usize::try_from(dice.between(1..=8)).expect("a size");
        let letters = &letters;
        let found = all_pages(size, |page_size, token| async move {
            letters.get(range.clone(), page_size, token.as_ref()).await.expect("a page")
        });
        let found: Vec<_> = found.await.iter().map(HistoryTask::task_id).collect();
        assert!(found.iter().eq(wanted.range(range.clone())), "{range:?} in pages of {size}: {found:?}");
    }
}

pub(crate) async fn more_dead_letters_than_a_transaction_takes_are_deleted(fixture: &Fixture) {
    let letters = fixture.dead_letters("east", 1);
    letters.put(0, &Blob::proto3(vec![1])).await.expect("a letter");
    let many = "INSERT INTO replication_tasks_dlq SELECT source_cluster_name, shard_id, more, data, data_encoding \
                FROM replication_tasks_dlq, generate_series(1, 3001) AS more";
    fixture.outside().await.batch_execute(many).await.expect("many letters");
    letters.delete_range(0..3001).await.expect("a deletion");
    let left = letters.get(0..9999, PageSize::MAX, None).await.expect("a page");
    assert_eq!(left.items.iter().map(HistoryTask::task_id).collect::<Vec<_>>(), [3001]);
}
