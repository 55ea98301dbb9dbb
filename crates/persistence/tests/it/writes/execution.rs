//! Executions, their current records, and history tasks under the fence of a shard.

use leasehold_persistence::{
    Archetype, Blob, ConflictResolution, ConflictResolveMode, CreateMode, Database, Executions, Run,
    SetExecution, Shards, Snapshot, UpdateMode,
};

use super::{Write, prepared, writes};
use crate::fixture::runs::{
    SHARD, brand_new, completed, create, current_of, key_of, keys_of, maps, mutation, run, snapshot, tasks,
    update,
};

const CURRENT_CONDITION: Option<&str> = Some("state.current_workflow_condition_failed");
const CONDITION: Option<&str> = Some("state.workflow_condition_failed");

fn workflow(seed: u16) -> String {
    format!("workflow {seed}")
}

/// The first run of a workflow of its own, at version 1.
fn first(seed: u16) -> Run {
    run(&workflow(seed), 1, 1)
}

/// With an entry in every table that a run has.
fn filled(run: Run, mark: u8, task_id: i64) -> Snapshot {
    Snapshot { maps: maps(mark), tasks: tasks(task_id), ..snapshot(run) }
}

async fn shard(database: &Database) {
    Shards::new(database.clone()).get_or_create(SHARD, || (1, Blob::proto3(vec![1]))).await.expect("a shard");
}

/// A run that is there and has entries and buffered events.
async fn made(database: Database, seed: u16) {
    shard(&database).await;
    let executions = Executions::new(database);
    let new = create(1, CreateMode::BrandNew, filled(first(seed), 1, task_id(seed)));
    executions.create(&new).await.expect("a run");
    let mut buffers = mutation(run(&workflow(seed), 1, 2));
    buffers.new_buffered_events = Some(Blob::proto3(vec![1]));
    executions.update(&update(UpdateMode::UpdateCurrent, buffers, None)).await.expect("an update");
}

/// Tasks have one line per shard; each seed has ten places in it.
fn task_id(seed: u16) -> i64 {
    i64::from(seed) * 10
}

writes! {
    "execution.create", CURRENT_CONDITION, |database, seed| {
        shard(&database).await;
        prepared(move |database| async move {
            let new = filled(first(seed), 1, task_id(seed));
            Executions::new(database).create(&create(1, CreateMode::BrandNew, new)).await
        })
    };
    "execution.update", CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            let mut change = mutation(run(&workflow(seed), 1, 3));
            change.upserts = maps(2);
            change.deletes = keys_of(&maps(1));
            change.clear_buffered_events = true;
            change.tasks = tasks(task_id(seed) + 1);
            Executions::new(database).update(&update(UpdateMode::UpdateCurrent, change, None)).await
        })
    };
    "execution.continue", CURRENT_CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            let mut change = mutation(completed(run(&workflow(seed), 1, 3)));
            change.tasks = tasks(task_id(seed) + 1);
            let next = filled(run(&workflow(seed), 2, 1), 1, task_id(seed) + 2);
            Executions::new(database).update(&update(UpdateMode::UpdateCurrent, change, Some(next))).await
        })
    };
    "execution.conflict_resolve", CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            let reset = filled(run(&workflow(seed), 1, 3), 3, task_id(seed) + 1);
            let mode = ConflictResolveMode::UpdateCurrent;
            let request = ConflictResolution::new(1, mode, Archetype::WORKFLOW, reset, None, None);
            Executions::new(database).conflict_resolve(&request.expect("a request")).await
        })
    };
    "execution.set", CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            let request = SetExecution::new(1, filled(run(&workflow(seed), 1, 3), 3, task_id(seed) + 1));
            Executions::new(database).set(&request.expect("a request")).await
        })
    };
    "execution.delete", None, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move { Executions::new(database).delete(&key_of(&workflow(seed), 1)).await })
    };
    "execution.delete_current", None, |database, seed| {
        shard(&database).await;
        Executions::new(database).create(&brand_new(first(seed))).await.expect("a run");
        prepared(move |database| async move {
            Executions::new(database).delete_current(&current_of(&workflow(seed)), first(seed).key.run_id).await
        })
    };
    "execution.add_history_tasks", Some("state.refused"), |database, seed| {
        shard(&database).await;
        prepared(move |database| async move {
            Executions::new(database).add_history_tasks(SHARD, 1, &tasks(task_id(seed))).await
        })
    };
}
