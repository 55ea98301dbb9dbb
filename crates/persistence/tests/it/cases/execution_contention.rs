//! Several writers of one run, one workflow, one shard: a token is spent once, and what is written is written whole.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use leasehold_persistence::{
    Archetype, Blob, ConflictResolution, ConflictResolveMode, CreateMode, Error, Executions, SetExecution,
    Shards, Snapshot, UpdateMode,
};
use tokio::task::JoinSet;

use super::execution::conflict;
use crate::fixture::runs::{
    brand_new, completed, create, current_of, key_of, maps, mutation, run, run_id, snapshot, transfer, update,
};
use crate::fixture::{Dice, Fixture, together};

macro_rules! execution_contention_cases {
    ($target:ident) => {
        $target!(
            execution_contention:
            one_of_many_creators_makes_the_current_run,
            one_of_two_writers_spends_each_token,
            reader_sees_every_part_of_one_write,
            storm_on_one_shard_passes,
            tasks_of_an_owner_end_with_its_range,
        );
    };
}

/// Property 4: concurrency safety. In each round several want to make the first run of a workflow.
pub(crate) async fn one_of_many_creators_makes_the_current_run(fixture: &Fixture) {
    fixture.shard(1).await;
    let watched = fixture.watched().await;
    let executions = Executions::new(watched.database.clone());
    for seed in fixture.rounds() {
        let (mut dice, workflow) = (Dice(seed), format!("orders {seed}"));
        let creators = (1..=u8::try_from(dice.between(2..=5)).expect("a few")).map(|number| {
            let (executions, request) = (executions.clone(), brand_new(run(&workflow, number, 1)));
            dice.late(async move { (number, executions.create(&request).await) })
        });
        let answers = together(creators.collect::<Vec<_>>()).await;
        let winner = answers.iter().find(|(_, answer)| answer.is_ok()).expect("a winner").0;
        for (number, answer) in answers {
            match answer {
                Ok(()) => assert_eq!(number, winner, "seed {seed}"),
                Err(error) => assert_eq!(conflict(error).run_id, Some(run_id(winner)), "seed {seed}"),
            }
            let is_there = executions.get(&key_of(&workflow, number)).await.is_ok();
            assert_eq!(is_there, number == winner, "seed {seed}");
        }
    }
    watched.expect_only_conflicts_tried_again();
}

/// The ways to spend the token of a run that is at version 1.
#[derive(Clone, Copy, Debug)]
enum Way {
    UpdateByVersion,
    UpdateByEvent,
    UpdateWithNewRun,
    Set,
    ConflictResolve,
    Create,
}

const WAYS: [Way; 6] = [
    Way::UpdateByVersion,
    Way::UpdateByEvent,
    Way::UpdateWithNewRun,
    Way::Set,
    Way::ConflictResolve,
    Way::Create,
];

/// Entries under the same ids whoever the writer is, who is told by what they hold.
fn marked(mut snapshot: Snapshot, writer: u8) -> Snapshot {
    snapshot.maps = maps(1);
    let mark = Blob::proto3(vec![writer]);
    snapshot.maps.activities.insert(1, mark.clone());
    snapshot.maps.timers.insert("timer 1".to_owned(), mark.clone());
    snapshot.maps.signals.insert(1, mark.clone());
    snapshot.run.record.info = mark;
    snapshot
}

/// Spends the token as `writer`, 1 or 2.
async fn spend(
    executions: &Executions,
    way: Way,
    workflow: &str,
    writer: u8,
    task: i64,
) -> Result<(), Error> {
    let tasks = vec![transfer(task + i64::from(writer))];
    let next = run(workflow, 1, 2);
    let as_mutation = |shape: fn(leasehold_persistence::Run) -> leasehold_persistence::Run| {
        let marked = marked(snapshot(shape(next.clone())), writer);
        let mut mutation = mutation(marked.run);
        mutation.upserts = marked.maps;
        mutation.tasks = tasks.clone();
        mutation
    };
    let as_snapshot = || Snapshot { tasks: tasks.clone(), ..marked(snapshot(next.clone()), writer) };
    match way {
        Way::UpdateByVersion => {
            executions.update(&update(UpdateMode::UpdateCurrent, as_mutation(|run| run), None)).await
        }
        Way::UpdateByEvent => {
            let mut mutation = as_mutation(|run| run);
            mutation.run.record.db_record_version = 0;
            mutation.condition = 10;
            executions.update(&update(UpdateMode::IgnoreCurrent, mutation, None)).await
        }
        Way::UpdateWithNewRun => {
            let new = marked(snapshot(run(workflow, 10 + writer, 1)), writer);
            executions.update(&update(UpdateMode::UpdateCurrent, as_mutation(completed), Some(new))).await
        }
        Way::Set => executions.set(&SetExecution::new(1, as_snapshot()).expect("a request")).await,
        Way::ConflictResolve => {
            let mode = ConflictResolveMode::UpdateCurrent;
            let request = ConflictResolution::new(1, mode, Archetype::WORKFLOW, as_snapshot(), None, None);
            executions.conflict_resolve(&request.expect("a request")).await
        }
        Way::Create => {
            let mode =
                CreateMode::UpdateCurrent { previous_run_id: run_id(1), previous_last_write_version: 7 };
            let new = Snapshot { tasks, ..marked(snapshot(run(workflow, 10 + writer, 1)), writer) };
            executions.create(&create(1, mode, new)).await
        }
    }
}

/// Property 2: conditional atomicity. For each way to spend a token two writers at once: one does, the other is told which
/// token is stored now, and every part is the winner's.
pub(crate) async fn one_of_two_writers_spends_each_token(fixture: &Fixture) {
    const ROUNDS: i64 = 17;
    fixture.shard(1).await;
    let executions = fixture.executions();
    let outside = fixture.outside().await;
    for (nth, way) in (0_i64..).zip(WAYS) {
        for round in 0..ROUNDS {
            let workflow = format!("{way:?} {round}");
            let first = run(&workflow, 1, 1);
            let first = if matches!(way, Way::Create) { completed(first) } else { first };
            executions.create(&brand_new(first)).await.expect("a run");
            let task = (nth * ROUNDS + round) * 10;
            let (one, other) = tokio::join!(
                spend(&executions, way, &workflow, 1, task),
                spend(&executions, way, &workflow, 2, task)
            );
            let (winner, loser) = match (one, other) {
                (Ok(()), Err(error)) => (1, error),
                (Err(error), Ok(())) => (2, error),
                answers => panic!("{workflow}: {answers:?}"),
            };
            let creates = matches!(way, Way::UpdateWithNewRun | Way::Create);
            match loser {
                Error::WorkflowConditionFailed { next_event_id: 20, .. } if !creates => {}
                Error::CurrentWorkflowConditionFailed(found) if creates => {
                    assert_eq!(found.run_id, Some(run_id(10 + winner)), "{workflow}");
                }
                error => panic!("{workflow}: {error:?}"),
            }
            let written = if creates { 10 + winner } else { 1 };
            let found = executions.get(&key_of(&workflow, written)).await.expect("the run");
            let mark = Blob::proto3(vec![winner]);
            let parts = [&found.maps.activities[&1], &found.maps.timers["timer 1"], &found.maps.signals[&1]];
            assert!(parts.iter().all(|part| **part == mark), "{workflow}: {:?}", found.maps);
            assert_eq!(found.record.info, mark, "{workflow}");
            if creates {
                let current = executions.get_current(&current_of(&workflow)).await.expect("a current run");
                assert_eq!(current.run_id, run_id(written), "{workflow}");
                assert!(executions.get(&key_of(&workflow, 13 - winner)).await.is_err(), "{workflow}");
            }
            let sql = "SELECT task_id FROM transfer_tasks WHERE task_id BETWEEN $1 AND $1 + 9";
            let tasks = outside.query(sql, &[&task]).await.expect("tasks");
            let tasks: Vec<i64> = tasks.iter().map(|row| row.get(0)).collect();
            assert_eq!(tasks, [task + i64::from(winner)], "{workflow}");
        }
    }
}

/// Every part of a run has the mark of the write that wrote it last.
pub(crate) async fn reader_sees_every_part_of_one_write(fixture: &Fixture) {
    /// So many at least; then until the reader was beside the writer.
    const WRITES: u8 = 60;
    const SIGHTS: usize = 3;
    fixture.shard(1).await;
    let executions = fixture.executions();
    let first = marked(snapshot(run("orders", 1, 1)), 1);
    executions.create(&create(1, CreateMode::BrandNew, first)).await.expect("a run");
    let writer = fixture.executions();
    let is_beside = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let is_beside = Arc::clone(&is_beside);
        async move {
            for mark in (2..=u8::MAX).take_while(|mark| *mark <= WRITES || !is_beside.load(Ordering::Relaxed))
            {
                let marked = marked(snapshot(run("orders", 1, i64::from(mark))), mark);
                let mut change = mutation(marked.run);
                change.upserts = marked.maps;
                change.clear_buffered_events = true;
                change.new_buffered_events = Some(Blob::proto3(vec![mark]));
                writer.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
            }
        }
    });
    let mut seen = BTreeSet::new();
    while !writer.is_finished() {
        let found = executions.get(&key_of("orders", 1)).await.expect("the run");
        let mark = &found.record.info;
        let parts = [&found.maps.activities[&1], &found.maps.timers["timer 1"], &found.maps.signals[&1]];
        let is_one = parts.into_iter().chain(&found.buffered_events).all(|part| part == mark);
        assert!(is_one, "{found:?}");
        seen.insert(found.record.db_record_version);
        is_beside.store(seen.len() >= SIGHTS, Ordering::Relaxed);
    }
    writer.await.expect("no panic");
    assert!(seen.len() >= SIGHTS, "the reader was never beside the writer");
}

/// Every write is for a run of its own, so each is served, however they conflict over the row of the shard.
pub(crate) async fn storm_on_one_shard_passes(fixture: &Fixture) {
    const WRITERS: u8 = 4;
    const CHANGES: i64 = 5;
    let lease = fixture.lease(1).await;
    let mut writers = JoinSet::new();
    for writer in 1..=WRITERS {
        let executions = fixture.executions();
        writers.spawn(async move {
            let workflow = format!("workflow {writer}");
            executions.create(&brand_new(run(&workflow, writer, 1))).await.expect("a run");
            for version in 2..2 + CHANGES {
                let mut change = mutation(run(&workflow, writer, version));
                change.tasks = vec![transfer(i64::from(writer) * 100 + version)];
                executions.update(&update(UpdateMode::UpdateCurrent, change, None)).await.expect("a change");
            }
        });
    }
    for level in 0..5 {
        lease.sync_state(Blob::proto3(vec![level])).await.expect("a change of the shard");
    }
    writers.join_all().await;
    let outside = fixture.outside().await;
    let count = outside.query_one("SELECT count(*) FROM transfer_tasks", &[]).await.expect("a number");
    assert_eq!(count.get::<_, i64>(0), i64::from(WRITERS) * CHANGES);
}

/// Property 4: concurrency safety. However busy the owner of the past is, what is below the new range when it is taken is
/// all that ever will be.
pub(crate) async fn tasks_of_an_owner_end_with_its_range(fixture: &Fixture) {
    let takeovers = if fixture.is_dsql() { 3 } else { 100 };
    // Where nobody waits a takeover needs a moment without a commit of the owner. Writers without a pause leave none, and
    // it gives up: see the consequences in `docs/adr/0018-shard-fence.md`. So there one is busy for a third of the time.
    let (writers, pauses) = if fixture.is_dsql() { (1, 2) } else { (2, 0) };
    let mut shard = fixture.shard(1).await;
    let watched = fixture.watched().await;
    let (executions, shards) =
        (Executions::new(watched.database.clone()), Shards::new(watched.database.clone()));
    let outside = fixture.outside().await;
    let below = async |range_id: i64| -> BTreeSet<i64> {
        let sql = "SELECT task_id FROM transfer_tasks WHERE task_id < $1";
        let rows = outside.query(sql, &[&(range_id << 20)]).await.expect("tasks");
        rows.iter().map(|row| row.get(0)).collect()
    };
    for range_id in 1..=takeovers {
        let begun = Arc::new(AtomicBool::new(false));
        let mut owners = JoinSet::new();
        for writer in 0..writers {
            let (executions, begun) = (executions.clone(), Arc::clone(&begun));
            owners.spawn(async move {
                for task in 0.. {
                    let task = transfer(range_id << 20 | writer << 16 | task);
                    let started = Instant::now();
                    match executions.add_history_tasks(1, range_id, &[task]).await {
                        Ok(()) => begun.store(true, Ordering::Release),
                        Err(Error::ShardOwnershipLost { actual, .. }) => return actual,
                        Err(error) => panic!("{error:?}"),
                    }
                    tokio::time::sleep(started.elapsed() * pauses).await;
                }
                unreachable!("an owner ends when its shard is taken")
            });
        }
        while !begun.load(Ordering::Acquire) {
            tokio::task::yield_now().await;
        }
        shards.take_over(&shard, shard.blob.clone()).await.expect("a takeover");
        let seen = below(range_id + 1).await;
        assert!(owners.join_all().await.iter().all(|actual| *actual == range_id + 1));
        assert_eq!(
            below(range_id + 1).await,
            seen,
            "a task came after the takeover of range {}",
            range_id + 1
        );
        shard = shards.get(1).await.expect("the shard");
    }
    watched.expect_only_conflicts_tried_again();
}
