//! Task queues of both generations, their tasks, and the user data of task queues.

use leasehold_persistence::{
    Blob, Database, NamespaceId, NewTask, TaskLevel, TaskQueue, TaskQueueKey, TaskQueues, TaskType,
    UserDataStore, UserDataUpdate,
};

use super::{Write, bytes, prepared, writes};

const CONDITION: Option<&str> = Some("state.condition_failed");

fn key(seed: u16) -> TaskQueueKey {
    TaskQueueKey::new(NamespaceId::from_bytes(bytes(seed)), "orders", TaskType::Workflow).expect("a key")
}

fn queue(range_id: i64) -> TaskQueue {
    TaskQueue { range_id, blob: Blob::proto3(vec![1]) }
}

fn tasks(pass: i64) -> [NewTask; 2] {
    let task =
        |task_id| NewTask { sub_queue: 0, level: TaskLevel { pass, task_id }, blob: Blob::proto3(vec![2]) };
    [task(1), task(2)]
}

async fn made(database: Database, seed: u16) -> TaskQueues {
    let queues = TaskQueues::new(database);
    queues.create(&key(seed), &queue(1)).await.expect("a queue");
    queues
}

fn user_data(version: i64) -> UserDataUpdate {
    let update = UserDataUpdate::new("orders", version, Blob::proto3(vec![1])).expect("an update");
    update.build_ids(vec!["new".to_owned()], vec!["old".to_owned()]).expect("build ids")
}

writes! {
    "task_queue.create", CONDITION, |_database, seed| {
        prepared(move |database| async move { TaskQueues::new(database).create(&key(seed), &queue(1)).await })
    };
    "task_queue.update", CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move { TaskQueues::new(database).update(&key(seed), &queue(2), 1).await })
    };
    "task_queue.delete", CONDITION, |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move { TaskQueues::new(database).delete(&key(seed), 1).await })
    };
    "task_queue.create_tasks", Some("state.refused"), |database, seed| {
        made(database, seed).await;
        prepared(move |database| async move { TaskQueues::new(database).create_tasks(&key(seed), 1, &tasks(0)).await })
    };
    "task_queue.create_fair_tasks", Some("state.refused"), |database, seed| {
        TaskQueues::fair(database).create(&key(seed), &queue(1)).await.expect("a queue");
        prepared(move |database| async move { TaskQueues::fair(database).create_tasks(&key(seed), 1, &tasks(1)).await })
    };
    "task_queue.delete_tasks", None, |database, seed| {
        made(database, seed).await.create_tasks(&key(seed), 1, &tasks(0)).await.expect("tasks");
        prepared(move |database| async move {
            let below = TaskLevel { pass: 0, task_id: 2 };
            TaskQueues::new(database).complete_tasks_less_than(&key(seed), 0, below, 10).await.map(drop)
        })
    };
    "task_queue.delete_fair_tasks", None, |database, seed| {
        let queues = TaskQueues::fair(database);
        queues.create(&key(seed), &queue(1)).await.expect("a queue");
        queues.create_tasks(&key(seed), 1, &tasks(1)).await.expect("tasks");
        prepared(move |database| async move {
            let below = TaskLevel { pass: 1, task_id: 2 };
            TaskQueues::fair(database).complete_tasks_under(&key(seed), 1, 0, below, 10).await.map(drop)
        })
    };
    "user_data.insert", Some("state.user_data_conflict"), |_database, seed| {
        prepared(move |database| async move {
            UserDataStore::new(database).update(NamespaceId::from_bytes(bytes(seed)), &[user_data(0)]).await
        })
    };
    "user_data.update", Some("state.user_data_conflict"), |database, seed| {
        let namespace_id = NamespaceId::from_bytes(bytes(seed));
        let old = UserDataUpdate::new("orders", 0, Blob::proto3(vec![1])).expect("an update");
        let old = old.build_ids(vec!["old".to_owned()], vec![]).expect("build ids");
        UserDataStore::new(database).update(namespace_id, &[old]).await.expect("user data");
        prepared(move |database| async move { UserDataStore::new(database).update(namespace_id, &[user_data(1)]).await })
    };
}
