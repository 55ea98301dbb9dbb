//! Every write while connections break: afterwards there is all of it or nothing, and a reader can tell which.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use leasehold_persistence::{
    Archetype, Blob, ConflictResolution, ConflictResolveMode, CreateExecution, CreateMode, Error, Executions,
    Run, SetExecution, UpdateExecution, UpdateMode,
};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use tokio_postgres::Client;

use crate::fixture::Fixture;
use crate::fixture::runs::{
    completed, copy_shard, keys_of, maps, mutation, run, run_id, snapshot, tables_of, tasks, zombie,
};

macro_rules! execution_fault_cases {
    ($target:ident) => {
        $target!(
            execution_faults:
            lost_answer_to_commit_leaves_all_or_nothing,
            connection_cut_at_any_statement_leaves_nothing,
        );
    };
}

/// The whole statement: `BEGIN … READ COMMITTED` has its letters too.
const COMMIT: &[u8] = b"COMMIT\0";
/// How the server answers it, once it has happened.
const COMMITTED: &[u8] = b"COMMIT\0Z";
/// The message that runs a prepared statement.
const EXECUTE: &[u8] = b"E\0\0\0\x09\0\0\0\0\0";

type Writing<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

type Tells = for<'a> fn(&'a Executions, i32) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// A write, sent for the runs of a shard of its own, and how a reader tells that it happened.
pub(crate) struct Write {
    pub(crate) name: &'static str,
    pub(crate) run: for<'a> fn(&'a Executions, i32) -> Writing<'a>,
    happened: Option<Tells>,
    /// What commits it.
    commit: &'static [u8],
    /// The end of the answer to that. The next bytes after the request would not do: a statement that was given up
    /// just before is answered too.
    committed: &'static [u8],
}

/// The shard that the others are copies of.
const ORIGINAL: i32 = 1_000_000;

/// Two runs: 1, the current one, at version 2, and 2, a zombie at version 1.
pub(crate) async fn prepare(fixture: &Fixture, outside: &Client, shard_id: i32) {
    let made = outside.query("SELECT 1 FROM shards WHERE shard_id = $1", &[&ORIGINAL]).await.expect("shards");
    if made.is_empty() {
        make(fixture, ORIGINAL).await;
    }
    copy_shard(outside, ORIGINAL, shard_id).await;
}

async fn make(fixture: &Fixture, shard_id: i32) {
    fixture.shard(shard_id).await;
    let executions = fixture.executions();
    for (number, mode) in [(1, CreateMode::BrandNew), (2, CreateMode::BypassCurrent)] {
        let shape = if number == 1 { |run| run } else { zombie };
        let mut new = snapshot(shape(run_in(shard_id, number, 1)));
        new.maps = maps(number);
        let request = CreateExecution::new(1, mode, Archetype::WORKFLOW, new).expect("a request");
        executions.create(&request).await.expect("a run");
    }
    let mut change = mutation(run_in(shard_id, 1, 2));
    change.new_buffered_events = Some(Blob::proto3(vec![1]));
    let request = UpdateExecution::new(1, UpdateMode::UpdateCurrent, Archetype::WORKFLOW, change, None);
    executions.update(&request.expect("a request")).await.expect("a change");
}

fn run_in(shard_id: i32, number: u8, version: i64) -> Run {
    let mut run = run("orders", number, version);
    run.key.shard_id = shard_id;
    run
}

async fn version(executions: &Executions, shard_id: i32, number: u8) -> Option<i64> {
    match executions.get(&run_in(shard_id, number, 1).key).await {
        Ok(found) => Some(found.record.db_record_version),
        Err(Error::NotFound { .. }) => None,
        Err(error) => panic!("{error:?}"),
    }
}

pub(crate) const WRITES: [Write; 7] = [
    Write {
        name: "create",
        run: |executions, shard_id| {
            Box::pin(async move {
                let mut new = snapshot(zombie(run_in(shard_id, 3, 1)));
                new.maps = maps(3);
                new.tasks = tasks(10);
                let mode = CreateMode::BypassCurrent;
                let request = CreateExecution::new(1, mode, Archetype::WORKFLOW, new).expect("a request");
                executions.create(&request).await
            })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move { version(executions, shard_id, 3).await.is_some() })
        }),
        commit: COMMIT,
        committed: COMMITTED,
    },
    Write {
        name: "update",
        run: |executions, shard_id| {
            Box::pin(async move {
                let mut change = mutation(completed(run_in(shard_id, 1, 3)));
                change.upserts = maps(5);
                change.deletes = keys_of(&maps(1));
                change.clear_buffered_events = true;
                change.new_buffered_events = Some(Blob::proto3(vec![2]));
                change.tasks = tasks(10);
                let mut new = snapshot(run_in(shard_id, 4, 1));
                new.maps = maps(4);
                new.tasks = tasks(11);
                let mode = UpdateMode::UpdateCurrent;
                let request = UpdateExecution::new(1, mode, Archetype::WORKFLOW, change, Some(new));
                executions.update(&request.expect("a request")).await
            })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move { version(executions, shard_id, 1).await == Some(3) })
        }),
        commit: COMMIT,
        committed: COMMITTED,
    },
    Write {
        name: "conflict_resolve",
        run: |executions, shard_id| {
            Box::pin(async move {
                let mut reset = snapshot(completed(run_in(shard_id, 2, 2)));
                reset.maps = maps(6);
                reset.tasks = tasks(10);
                let mut was = mutation(completed(run_in(shard_id, 1, 3)));
                was.clear_buffered_events = true;
                let new = snapshot(run_in(shard_id, 4, 1));
                let mode = ConflictResolveMode::UpdateCurrent;
                let request =
                    ConflictResolution::new(1, mode, Archetype::WORKFLOW, reset, Some(new), Some(was));
                executions.conflict_resolve(&request.expect("a request")).await
            })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move { version(executions, shard_id, 2).await == Some(2) })
        }),
        commit: COMMIT,
        committed: COMMITTED,
    },
    Write {
        name: "set",
        run: |executions, shard_id| {
            Box::pin(async move {
                let mut whole = snapshot(run_in(shard_id, 1, 3));
                whole.maps = maps(7);
                whole.tasks = tasks(10);
                executions.set(&SetExecution::new(1, whole).expect("a request")).await
            })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move { version(executions, shard_id, 1).await == Some(3) })
        }),
        commit: COMMIT,
        committed: COMMITTED,
    },
    Write {
        name: "delete",
        run: |executions, shard_id| {
            Box::pin(async move { executions.delete(&run_in(shard_id, 1, 1).key).await })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move { version(executions, shard_id, 1).await.is_none() })
        }),
        commit: COMMIT,
        committed: COMMITTED,
    },
    Write {
        name: "delete_current",
        run: |executions, shard_id| {
            Box::pin(async move {
                let key = run_in(shard_id, 1, 1).key.current(Archetype::WORKFLOW);
                executions.delete_current(&key, run_id(1)).await
            })
        },
        happened: Some(|executions, shard_id| {
            Box::pin(async move {
                let key = run_in(shard_id, 1, 1).key.current(Archetype::WORKFLOW);
                executions.get_current(&key).await.is_err()
            })
        }),
        commit: EXECUTE,
        committed: b"DELETE 1\0Z",
    },
    // Nothing but the tasks themselves tells. Who does not know takes the shard over: whatever was under way is then there or
    // never will be.
    Write {
        name: "add_history_tasks",
        run: |executions, shard_id| {
            Box::pin(async move { executions.add_history_tasks(shard_id, 1, &tasks(10)).await })
        },
        happened: None,
        commit: COMMIT,
        committed: COMMITTED,
    },
];

pub(crate) type Tables = BTreeMap<String, Vec<String>>;

/// What is stored before and after each write.
pub(crate) async fn expected(
    fixture: &Fixture,
    outside: &Client,
    write: &Write,
    shard_id: i32,
) -> (Tables, Tables) {
    prepare(fixture, outside, shard_id).await;
    let before = tables_of(outside, shard_id).await;
    (write.run)(&fixture.executions(), shard_id).await.expect("a write");
    let after = tables_of(outside, shard_id).await;
    assert_ne!(before, after, "{}", write.name);
    (before, after)
}

/// Property 6: integrity under failures. The outcome is unknown and told to be; a read says which it was; where it did not
/// happen it may be done again.
pub(crate) async fn lost_answer_to_commit_leaves_all_or_nothing(fixture: &Fixture) {
    let mut shards = 1..;
    let mut next_shard = move || shards.next().expect("another shard");
    let (calm, outside) = (fixture.executions(), &fixture.outside().await);
    for write in &WRITES {
        let name = write.name;
        let (before, after) = expected(fixture, outside, write, next_shard()).await;
        let lost_request = (Trigger::Request(write.commit.to_vec()), false);
        let lost_answer = (Trigger::Reply(write.committed.to_vec()), true);
        for (trigger, happens) in [lost_request, lost_answer] {
            let shard_id = next_shard();
            prepare(fixture, outside, shard_id).await;
            let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
            let executions = Executions::new(fixture.by_way_of(proxy.address(), None).await);
            let rule = proxy.add(Rule::on(trigger).then(Action::Cut));
            let answer = (write.run)(&executions, shard_id).await;
            assert!(
                matches!(answer, Err(Error::UnknownOutcome { .. })),
                "{name}, happens: {happens}: {answer:?}"
            );
            assert_eq!(rule.count(), 1, "{name}, happens: {happens}");
            let stored = tables_of(outside, shard_id).await;
            assert!(
                stored == if happens { after.clone() } else { before.clone() },
                "{name}, happens: {happens}"
            );
            if let Some(happened) = write.happened {
                assert_eq!(happened(&calm, shard_id).await, happens, "{name}, happens: {happens}");
            }
            if !happens {
                (write.run)(&calm, shard_id).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                assert!(tables_of(outside, shard_id).await == after, "{name}, happens: {happens}");
            }
        }
    }
}

/// Property 6: integrity under failures. The connection ends at the n-th statement, for every n: nothing was committed, and
/// the answer says so.
pub(crate) async fn connection_cut_at_any_statement_leaves_nothing(fixture: &Fixture) {
    let outside = &fixture.outside().await;
    for (shard_id, write) in (1..).zip(&WRITES) {
        let name = write.name;
        if write.commit != COMMIT {
            continue;
        }
        prepare(fixture, outside, shard_id).await;
        let before = tables_of(outside, shard_id).await;
        let mut cuts = 0;
        loop {
            let proxy = FaultProxy::start(fixture.address()).await.expect("a proxy");
            let executions = Executions::new(fixture.by_way_of(proxy.address(), None).await);
            let rule = Rule::on(Trigger::Request(EXECUTE.to_vec())).then(Action::Cut).skip(cuts);
            let rule = proxy.add(rule);
            let answer = (write.run)(&executions, shard_id).await;
            if rule.count() == 0 {
                answer.unwrap_or_else(|error| panic!("{name}: {error:?}"));
                break;
            }
            assert!(matches!(answer, Err(Error::Unavailable { .. })), "{name} at {cuts}: {answer:?}");
            assert!(tables_of(outside, shard_id).await == before, "{name} at {cuts}");
            cuts += 1;
        }
        assert!(cuts > 1, "{name} has more than one statement");
        assert!(tables_of(outside, shard_id).await != before, "{name}");
    }
}
