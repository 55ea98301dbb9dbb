//! History tasks that are done, and dead letters of replication.

use leasehold_persistence::{
    Blob, Category, Database, Executions, HistoryTaskRange, HistoryTasks, ReplicationDeadLetters, Shards,
};

use super::{Write, prepared, writes};
use crate::fixture::runs::transfer;

/// Each seed has a shard of its own here, apart from those of other files.
fn shard_id(seed: u16) -> i32 {
    i32::from(seed) + 100_000
}

async fn made(database: Database, seed: u16) {
    let shards = Shards::new(database.clone());
    shards.get_or_create(shard_id(seed), || (1, Blob::proto3(vec![1]))).await.expect("a shard");
    let tasks = [transfer(1), transfer(2), transfer(3)];
    Executions::new(database).add_history_tasks(shard_id(seed), 1, &tasks).await.expect("tasks");
}

fn dead_letters(database: Database, seed: u16) -> ReplicationDeadLetters {
    ReplicationDeadLetters::new(database, "east", shard_id(seed)).expect("dead letters")
}

async fn dead(database: Database, seed: u16) {
    for task_id in 1..=3 {
        dead_letters(database.clone(), seed)
            .put(task_id, &Blob::proto3(vec![1]))
            .await
            .expect("a dead letter");
    }
}

writes! {
    "history_task.delete", None, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            HistoryTasks::new(database).complete(shard_id(seed), &transfer(1).key()).await
        })
    };
    "history_task.delete_range", None, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move {
            let range = HistoryTaskRange::ids(Category::TRANSFER, 1..3).expect("a range");
            HistoryTasks::new(database).complete_range(shard_id(seed), &range).await
        })
    };
    "replication_dead_letters.put", None, |_database, seed| {
        prepared(move |database| async move { dead_letters(database, seed).put(1, &Blob::proto3(vec![1])).await })
    };
    "replication_dead_letters.delete", None, |database, seed| {
        dead(database, seed).await;
        prepared(move |database| async move { dead_letters(database, seed).delete(1).await })
    };
    "replication_dead_letters.delete_range", None, |database, seed| {
        dead(database, seed).await;
        prepared(move |database| async move { dead_letters(database, seed).delete_range(1..3).await })
    };
}
