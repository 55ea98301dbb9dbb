//! Task queues: one owner at a time, at a range that only grows, and no task that the owner does not know of.

use std::num::NonZeroU32;

use leasehold_persistence::{
    Blob, Error, GetTasks, Inspector, Lease, NamespaceId, NewTask, PageSize, PageToken, Task, TaskLevel,
    TaskQueue, TaskQueueKey, TaskQueues, TaskType,
};

use crate::fixture::{Dice, Fixture, all_pages, together};

macro_rules! task_queue_cases {
    ($target:ident) => {
        $target!(
            task_queue:
            queue_is_made_once_and_reads_back,
            update_at_the_known_range_is_stored,
            update_at_another_range_is_refused_with_the_stored_one,
            queue_is_deleted_by_its_owner_alone,
            list_of_queues_holds_every_queue_once_at_any_size,
            queue_is_named_by_its_key_or_by_what_temporal_keeps,
            tasks_read_back_from_their_part_of_the_queue,
            tasks_of_a_lost_lease_are_not_written,
            impossible_requests_for_tasks_are_refused,
            pages_hold_every_task_once_at_any_size,
            completed_tasks_are_the_lowest,
            more_tasks_than_a_transaction_takes_are_completed,
            completion_under_a_lost_lease_deletes_nothing,
            tasks_with_passes_are_completed_under_a_lease_alone,
            lease_is_taken_over_renewed_and_lost,
            one_of_many_contenders_takes_a_queue_over,
            no_task_appears_below_the_block_of_a_new_owner,
        );
    };
}

impl Fixture {
    /// Both families of tables.
    pub(crate) fn task_queues(&self) -> [(TaskQueues, i64); 2] {
        [(TaskQueues::new(self.database.clone()), 0), (TaskQueues::fair(self.database.clone()), 1)]
    }
}

pub(crate) fn key(name: &str) -> TaskQueueKey {
    TaskQueueKey::new(NamespaceId::from_bytes([7; 16]), name, TaskType::Workflow).expect("a key")
}

pub(crate) fn queue(range_id: i64, data: u8) -> TaskQueue {
    TaskQueue { range_id, blob: Blob::proto3(vec![data]) }
}

pub(crate) fn task(sub_queue: u32, pass: i64, task_id: i64) -> NewTask {
    let blob = Blob::proto3(format!("{sub_queue}/{pass}/{task_id}").into_bytes());
    NewTask { sub_queue, level: TaskLevel { pass, task_id }, blob }
}

/// All tasks of a part, in pages of a size.
async fn tasks(queues: &TaskQueues, key: &TaskQueueKey, sub_queue: u32, pass: i64, size: usize) -> Vec<Task> {
    all_pages(size, |page_size, token| async move {
        let from = TaskLevel { pass, task_id: i64::MIN };
        let request = GetTasks { sub_queue, from, below_task_id: None, page_size };
        queues.get_tasks(key, &request, token.as_ref()).await.expect("a page")
    })
    .await
}

fn stored(tasks: &[NewTask]) -> Vec<Task> {
    tasks.iter().map(|task| Task { level: task.level, blob: task.blob.clone() }).collect()
}

fn is_lost(error: &Error, expected: i64, actual: Option<i64>) -> bool {
    matches!(error, Error::ConditionFailed { what: "task queue", expected: Some(wanted), actual: found }
        if *wanted == expected && *found == actual)
}

pub(crate) async fn queue_is_made_once_and_reads_back(fixture: &Fixture) {
    for (queues, _) in fixture.task_queues() {
        let error = queues.get(&key("orders")).await.expect_err("no queue");
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
        queues.create(&key("orders"), &queue(3, 1)).await.expect("a queue");
        let error = queues.create(&key("orders"), &queue(4, 2)).await.expect_err("it is there");
        assert!(is_lost(&error, 0, None), "{error:?}");
        assert_eq!(queues.get(&key("orders")).await.expect("a queue"), queue(3, 1));
        let other = TaskQueueKey::new(NamespaceId::from_bytes([7; 16]), "orders", TaskType::Activity);
        let error = queues.get(&other.expect("a key")).await.expect_err("another type");
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    }
}

pub(crate) async fn update_at_the_known_range_is_stored(fixture: &Fixture) {
    for (queues, _) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        for (previous, next) in [(1, queue(1, 2)), (1, queue(2, 3)), (2, queue(5, 4))] {
            queues.update(&key("orders"), &next, previous).await.expect("an update");
            assert_eq!(queues.get(&key("orders")).await.expect("a queue"), next);
        }
    }
}

pub(crate) async fn update_at_another_range_is_refused_with_the_stored_one(fixture: &Fixture) {
    for (queues, _) in fixture.task_queues() {
        let error = queues.update(&key("orders"), &queue(2, 1), 1).await.expect_err("no queue");
        assert!(is_lost(&error, 1, None), "{error:?}");
        queues.create(&key("orders"), &queue(4, 1)).await.expect("a queue");
        for (previous, range_id) in [(3, 3), (3, 4), (1, 9), (5, 6)] {
            let error = queues.update(&key("orders"), &queue(range_id, 9), previous).await;
            let error = error.expect_err("another range");
            assert!(is_lost(&error, previous, Some(4)), "{error:?}");
        }
        let error = queues.update(&key("orders"), &queue(3, 9), 4).await.expect_err("a lower range");
        assert!(matches!(error, Error::InvalidRequest { field: "range_id", .. }), "{error:?}");
        assert_eq!(queues.get(&key("orders")).await.expect("a queue"), queue(4, 1));
    }
}

pub(crate) async fn queue_is_deleted_by_its_owner_alone(fixture: &Fixture) {
    for (queues, _) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(4, 1)).await.expect("a queue");
        let error = queues.delete(&key("orders"), 3).await.expect_err("another range");
        assert!(is_lost(&error, 3, None), "{error:?}");
        queues.delete(&key("orders"), 4).await.expect("a deletion");
        let error = queues.delete(&key("orders"), 4).await.expect_err("no queue");
        assert!(is_lost(&error, 4, None), "{error:?}");
        assert!(queues.get(&key("orders")).await.is_err());
    }
}

/// Property 2: what is listed is what is stored, at any size of page. Tokens carry ids as they are stored, which on DSQL are
/// not the ids that queues have.
pub(crate) async fn list_of_queues_holds_every_queue_once_at_any_size(fixture: &Fixture) {
    for (queues, _) in fixture.task_queues() {
        let mut wanted = Vec::new();
        for at in 0..37 {
            let key = key(&format!("queue-{at}-{}", "x".repeat(at * 20)));
            queues.create(&key, &queue(i64::try_from(at).expect("small"), 1)).await.expect("a queue");
            wanted.push((i64::try_from(at).expect("small"), (!fixture.is_dsql()).then_some(key)));
        }
        for size in [1, 2, 5, 36, 37, 38, 1000] {
            let queues = &queues;
            let listed = all_pages(size, |page_size, token| async move {
                queues.list(page_size, token.as_ref()).await.expect("a page")
            });
            let mut listed: Vec<_> =
                listed.await.into_iter().map(|listed| (listed.queue.range_id, listed.key)).collect();
            listed.sort_unstable();
            assert_eq!(listed, wanted, "in pages of {size}");
        }
        let token = PageToken::from_bytes(vec![1, 2, 3]);
        let error = queues.list(PageSize::MAX, Some(&token)).await.expect_err("no token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

pub(crate) async fn queue_is_named_by_its_key_or_by_what_temporal_keeps(fixture: &Fixture) {
    let namespace_id = key("orders").namespace_id().to_string();
    let info = [b"\x0a\x24", namespace_id.as_bytes(), b"\x12\x06orders\x18\x01"];
    let kept = TaskQueue { range_id: 1, blob: Blob::proto3(info.concat()) };
    for (queues, is_fair) in fixture.task_queues() {
        queues.create(&key("orders"), &kept).await.expect("a queue");
        queues.create(&key("other"), &queue(2, 0xff)).await.expect("a queue");
        let inspector = Inspector::new(fixture.database.clone());
        let page = inspector.task_queues(is_fair == 1, PageSize::MAX, None).await.expect("queues");
        assert_eq!(page.items.len(), 2);
        for listed in page.items {
            let name = if listed.queue == kept {
                Some("orders")
            } else {
                Some("other").filter(|_| !fixture.is_dsql())
            };
            assert_eq!(listed.key, name.map(key), "range {}", listed.queue.range_id);
        }
    }
}

pub(crate) async fn tasks_read_back_from_their_part_of_the_queue(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        let mixed = [task(0, pass, 3), task(300, pass, 2), task(0, pass, 1), task(1, pass, 1)];
        queues.create_tasks(&key("orders"), 1, &mixed).await.expect("tasks");
        for (sub_queue, wanted) in [
            (0, vec![task(0, pass, 1), task(0, pass, 3)]),
            (1, vec![task(1, pass, 1)]),
            (300, vec![task(300, pass, 2)]),
            (2, vec![]),
        ] {
            assert_eq!(tasks(&queues, &key("orders"), sub_queue, pass, 10).await, stored(&wanted));
        }
        assert_eq!(tasks(&queues, &key("others"), 0, pass, 10).await, []);
    }
}

pub(crate) async fn tasks_of_a_lost_lease_are_not_written(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        let new = [task(0, pass, 1), task(5, pass, 2)];
        let error = queues.create_tasks(&key("orders"), 1, &new).await.expect_err("no queue");
        assert!(is_lost(&error, 1, None), "{error:?}");
        queues.create(&key("orders"), &queue(2, 1)).await.expect("a queue");
        queues.create_tasks(&key("orders"), 2, &new[..1]).await.expect("a task");
        for range_id in [1, 3] {
            // The first of them is there already: another's, of which the loser is not told.
            let error = queues.create_tasks(&key("orders"), range_id, &new).await.expect_err("another range");
            assert!(is_lost(&error, range_id, Some(2)), "{error:?}");
        }
        assert_eq!(tasks(&queues, &key("orders"), 0, pass, 10).await, stored(&new[..1]));
        assert_eq!(tasks(&queues, &key("orders"), 5, pass, 10).await, []);
        let error = queues.create_tasks(&key("orders"), 2, &new).await.expect_err("an id twice");
        assert!(matches!(error, Error::Refused { .. }), "{error:?}");
        assert_eq!(tasks(&queues, &key("orders"), 5, pass, 10).await, []);
    }
}

pub(crate) async fn impossible_requests_for_tasks_are_refused(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        let wrong_pass = 1 - pass;
        let level = |pass| TaskLevel { pass, task_id: 5 };
        let read = |pass, below_task_id| GetTasks {
            sub_queue: 0,
            from: level(pass),
            below_task_id,
            page_size: PageSize::MAX,
        };
        let many: Vec<_> = (0..1001).map(|id| task(0, pass, id)).collect();
        let errors = [
            (queues.create_tasks(&key("orders"), 1, &[]).await.err(), "tasks"),
            (queues.create_tasks(&key("orders"), 1, &many).await.err(), "tasks"),
            (queues.create_tasks(&key("orders"), 1, &[task(0, wrong_pass, 1)]).await.err(), "pass"),
            (queues.get_tasks(&key("orders"), &read(wrong_pass, None), None).await.err(), "pass"),
            (queues.complete_tasks_under(&key("orders"), 1, 0, level(wrong_pass), 1).await.err(), "pass"),
            (queues.complete_tasks_under(&key("orders"), 1, 0, level(pass), 0).await.err(), "limit"),
        ];
        for (error, name) in errors {
            assert!(matches!(error, Some(Error::InvalidRequest { field, .. }) if field == name), "{error:?}");
        }
        for token in [PageToken::from_bytes(vec![1]), PageToken::from_bytes(vec![0; 16])] {
            let error = queues.get_tasks(&key("orders"), &read(pass, None), Some(&token)).await;
            let error = error.expect_err("no token");
            assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
        }
        let bounded = queues.get_tasks(&key("orders"), &read(pass, Some(9)), None).await;
        assert_eq!(bounded.is_ok(), pass == 0, "{bounded:?}");
    }
}

/// Property 2: what is read is what is stored, at any size of page, from and to any level.
pub(crate) async fn pages_hold_every_task_once_at_any_size(fixture: &Fixture) {
    let mut dice = Dice(3);
    for (queues, first_pass) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        let mut levels = std::collections::BTreeSet::new();
        for _ in 0..40 {
            let pass = first_pass * dice.between(1..=3);
            levels.insert(TaskLevel { pass, task_id: dice.between(-5..=30) });
        }
        levels.extend([TaskLevel { pass: first_pass, task_id: i64::MIN }]);
        let new: Vec<_> = levels.iter().map(|level| task(0, level.pass, level.task_id)).collect();
        queues.create_tasks(&key("orders"), 1, &new).await.expect("tasks");
        for _ in 0..50 {
            let from = TaskLevel { pass: first_pass * dice.between(1..=3), task_id: dice.between(-6..=31) };
            let below = (first_pass == 0 && dice.once_in(2)).then(|| dice.between(-6..=31));
            let size = usize::try_from(dice.between(1..=9)).expect("a size");
            let queues = &queues;
            let read: Vec<_> = all_pages(size, |page_size, token| async move {
                let request = GetTasks { sub_queue: 0, from, below_task_id: below, page_size };
                queues.get_tasks(&key("orders"), &request, token.as_ref()).await.expect("a page")
            })
            .await;
            let wanted = levels.range(from..).filter(|level| below.is_none_or(|below| level.task_id < below));
            assert!(read.iter().map(|task| &task.level).eq(wanted), "{from:?} {below:?} {size} {read:?}");
        }
    }
}

pub(crate) async fn completed_tasks_are_the_lowest(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        let passes: Vec<i64> = if pass == 0 { vec![0] } else { vec![1, 2] };
        let new: Vec<_> = passes.iter().flat_map(|pass| (1..=10).map(|id| task(0, *pass, id))).collect();
        queues.create_tasks(&key("orders"), 1, &new).await.expect("tasks");
        queues.create_tasks(&key("orders"), 1, &[task(1, pass, 1)]).await.expect("a task");
        let last = *passes.last().expect("a pass");
        let mut left = stored(&new);
        for (task_id, limit) in [(i64::MIN, 5), (9, 2), (9, 3), (9, 1000), (9, 1000), (11, 1), (i64::MAX, 7)]
        {
            let below = TaskLevel { pass: last, task_id };
            let wanted = left.iter().filter(|task| task.level < below).count().min(limit);
            let limit = u32::try_from(limit).expect("small");
            let completed = queues.complete_tasks_under(&key("orders"), 1, 0, below, limit).await;
            assert_eq!(completed.expect("a number"), wanted as u64, "below {below:?}, {limit} at most");
            left.drain(..wanted);
            assert_eq!(tasks(&queues, &key("orders"), 0, pass, 100).await, left);
        }
        assert_eq!(left, []);
        assert_eq!(tasks(&queues, &key("orders"), 1, pass, 100).await.len(), 1);
    }
}

pub(crate) async fn more_tasks_than_a_transaction_takes_are_completed(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        queues.create(&key("orders"), &queue(1, 1)).await.expect("a queue");
        for first in (0..3001).step_by(1000) {
            let some: Vec<_> = (first..3001.min(first + 1000)).map(|id| task(0, pass, id)).collect();
            queues.create_tasks(&key("orders"), 1, &some).await.expect("tasks");
        }
        let below = TaskLevel { pass, task_id: i64::MAX };
        let completed = queues.complete_tasks_under(&key("orders"), 1, 0, below, 2500).await;
        assert_eq!(completed.expect("a number"), 2500);
        assert_eq!(tasks(&queues, &key("orders"), 0, pass, 1000).await.len(), 501);
        let completed = match pass {
            0 => queues.complete_tasks_less_than(&key("orders"), 0, below, 100_000).await,
            _ => queues.complete_tasks_under(&key("orders"), 1, 0, below, 100_000).await,
        };
        assert_eq!(completed.expect("a number"), 501);
    }
}

/// An owner completes what it has acknowledged, and was not yet told that another owner has begun at an earlier pass.
pub(crate) async fn completion_under_a_lost_lease_deletes_nothing(fixture: &Fixture) {
    for (queues, pass) in fixture.task_queues() {
        let first = taken_over(&queues).await;
        first.create_tasks(&[task(0, pass, 1)]).await.expect("a task");
        let second = taken_over(&queues).await;
        second.create_tasks(&[task(0, pass, 2)]).await.expect("a task");
        let below = TaskLevel { pass: 900 * pass, task_id: 900 };
        let error = first.complete_tasks_less_than(0, below, 1000).await.expect_err("another's");
        assert!(is_lost(&error, 1, Some(2)), "{error:?}");
        assert_eq!(tasks(&queues, &key("orders"), 0, pass, 10).await.len(), 2);
        assert_eq!(second.complete_tasks_less_than(0, below, 1000).await.expect("a number"), 2);
    }
}

pub(crate) async fn tasks_with_passes_are_completed_under_a_lease_alone(fixture: &Fixture) {
    let [(plain, _), (fair, pass)] = fixture.task_queues();
    taken_over(&plain).await.create_tasks(&[task(0, 0, 1)]).await.expect("a task");
    taken_over(&fair).await.create_tasks(&[task(0, pass, 1)]).await.expect("a task");
    let completed =
        plain.complete_tasks_less_than(&key("orders"), 0, TaskLevel { pass: 0, task_id: 2 }, 9).await;
    assert_eq!(completed.expect("a number"), 1);
    let below = TaskLevel { pass, task_id: 2 };
    let error = fair.complete_tasks_less_than(&key("orders"), 0, below, 9).await.expect_err("no lease");
    assert!(matches!(error, Error::InvalidRequest { field: "queue", .. }), "{error:?}");
    assert_eq!(tasks(&fair, &key("orders"), 0, pass, 10).await.len(), 1);
}

async fn taken_over(queues: &TaskQueues) -> Lease {
    queues.take_over(&key("orders"), |_| Blob::proto3(vec![1])).await.expect("a lease")
}

pub(crate) async fn lease_is_taken_over_renewed_and_lost(fixture: &Fixture) {
    let block_size = NonZeroU32::new(100).expect("a size");
    for (queues, pass) in fixture.task_queues() {
        let mut first = taken_over(&queues).await;
        assert_eq!((first.range_id(), first.task_ids(block_size)), (1, 1..=100));
        first.renew(Blob::proto3(vec![2])).await.expect("a renewal");
        assert_eq!((first.range_id(), first.task_ids(block_size)), (2, 101..=200));
        first.sync_state(Blob::proto3(vec![3])).await.expect("a state");
        first.verify().await.expect("its own");
        first.create_tasks(&[task(0, pass, 101)]).await.expect("a task");
        assert_eq!(queues.get(first.key()).await.expect("a queue"), queue(2, 3));

        let kept = |kept: Option<&Blob>| {
            assert_eq!(kept, Some(&Blob::proto3(vec![3])));
            Blob::proto3(vec![4])
        };
        let second = queues.take_over(&key("orders"), kept).await.expect("a lease");
        assert_eq!(queues.get(second.key()).await.expect("a queue"), queue(3, 4));
        let errors = [
            first.verify().await,
            first.sync_state(Blob::proto3(vec![9])).await,
            first.create_tasks(&[task(0, pass, 102)]).await,
            first.renew(Blob::proto3(vec![9])).await,
        ];
        for error in errors {
            let error = error.expect_err("another's");
            assert!(is_lost(&error, 2, Some(3)), "{error:?}");
        }
        assert_eq!(first.range_id(), 2);
        assert_eq!(queues.get(second.key()).await.expect("a queue"), queue(3, 4));
        queues.delete(second.key(), 3).await.expect("a deletion");
        let error = second.verify().await.expect_err("no queue");
        assert!(is_lost(&error, 3, None), "{error:?}");
    }
}

/// Property 4: whoever takes over, and how often: a range has one owner, and losers are told. In each round several begin.
pub(crate) async fn one_of_many_contenders_takes_a_queue_over(fixture: &Fixture) {
    let watched = fixture.watched().await;
    for queues in [TaskQueues::new(watched.database.clone()), TaskQueues::fair(watched.database.clone())] {
        let mut ranges = 0;
        for seed in fixture.rounds() {
            let mut dice = Dice(seed);
            let contenders = (0..dice.between(2..=4)).map(|_| {
                let queues = queues.clone();
                dice.late(async move { queues.take_over(&key("orders"), |_| Blob::proto3(vec![1])).await })
            });
            let mut won = Vec::new();
            for answer in together(contenders.collect::<Vec<_>>()).await {
                match answer {
                    Ok(lease) => won.push(lease.range_id()),
                    Err(Error::ConditionFailed { .. }) => {}
                    Err(error) => panic!("seed {seed}: {error:?}"),
                }
            }
            won.sort_unstable();
            let last = ranges + i64::try_from(won.len()).expect("a few");
            assert!(!won.is_empty() && won.iter().copied().eq(ranges + 1..=last), "seed {seed}: {won:?}");
            ranges = last;
            assert_eq!(queues.get(&key("orders")).await.expect("a queue").range_id, ranges, "seed {seed}");
        }
    }
    watched.expect_only_conflicts_tried_again();
}

/// Property 4: an owner writes tasks while another takes over. What the new owner finds below its block when it has taken
/// over is all that will ever be there; what the old one was told to have written is among it.
pub(crate) async fn no_task_appears_below_the_block_of_a_new_owner(fixture: &Fixture) {
    let block_size = NonZeroU32::new(100).expect("a size");
    // Where nobody waits, those who lose pause and try again.
    let (rounds, mut dice) = (if fixture.is_dsql() { 25 } else { 100 }, Dice(8));
    for (queues, pass) in fixture.task_queues() {
        let mut owner = taken_over(&queues).await;
        let mut kept = 0;
        for round in 0..rounds {
            let ids = owner.task_ids(block_size);
            let head_start = dice.roll(4);
            let writing = tokio::spawn(async move {
                let mut written = Vec::new();
                for id in ids.take(6) {
                    match owner.create_tasks(&[task(0, pass, id)]).await {
                        Ok(()) => written.push(id),
                        Err(Error::ConditionFailed { .. }) => break,
                        Err(error) => panic!("{error:?}"),
                    }
                }
                written
            });
            for _ in 0..head_start {
                queues.get(&key("orders")).await.expect("a queue");
            }
            let next = taken_over(&queues).await;
            let begin = *next.task_ids(block_size).start();
            let found = tasks(&queues, &key("orders"), 0, pass, 1000).await;
            let written = writing.await.expect("no panic");
            let after = tasks(&queues, &key("orders"), 0, pass, 1000).await;
            assert_eq!(found, after, "round {round}");
            let ids: Vec<_> = found.iter().map(|task| task.level.task_id).collect();
            assert_eq!(ids, written, "round {round}");
            assert!(ids.iter().all(|id| *id < begin), "round {round}");
            kept += written.len();
            let below = TaskLevel { pass, task_id: begin };
            let completed = next.complete_tasks_less_than(0, below, 1000).await;
            assert_eq!(completed.expect("a number"), written.len() as u64);
            owner = next;
        }
        assert!(kept > 0, "the old owner never wrote anything");
    }
}
