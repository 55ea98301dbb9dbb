//! Queues by type, with their dead letters, and queues by name.

use leasehold_persistence::{AckLevels, Blob, Database, NamedQueueKey, NamedQueues, Queue, QueueType};

use super::{Write, prepared, writes};

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

fn queue(database: Database, seed: u16) -> Queue {
    Queue::new(database, QueueType::new(i32::from(seed) + 1).expect("a type"))
}

async fn filled(database: Database, seed: u16) -> Queue {
    let queue = queue(database, seed);
    queue.init(&blob(0)).await.expect("a queue");
    for data in 0..3 {
        queue.enqueue(&blob(data)).await.expect("an id");
        queue.dead_letters().enqueue(&blob(data)).await.expect("an id");
    }
    queue
}

fn key(seed: u16) -> NamedQueueKey {
    NamedQueueKey::new(2, format!("queue {seed}")).expect("a key")
}

fn first() -> AckLevels {
    AckLevels { blob: blob(9), version: 0 }
}

writes! {
    "queue.enqueue_first", None, |database, seed| {
        queue(database, seed).init(&blob(0)).await.expect("a queue");
        prepared(move |database| async move { queue(database, seed).enqueue(&blob(1)).await.map(drop) })
    };
    "queue.enqueue", None, |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).enqueue(&blob(1)).await.map(drop) })
    };
    "queue.delete_before", None, |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).delete_before(2).await })
    };
    "queue.update_ack_levels", Some("state.condition_failed"), |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).update_ack_levels(&first()).await })
    };
    "dead_letters.enqueue", None, |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).dead_letters().enqueue(&blob(1)).await.map(drop) })
    };
    "dead_letters.delete", None, |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).dead_letters().delete(1).await })
    };
    "dead_letters.delete_range", None, |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).dead_letters().delete_range(0, 2).await })
    };
    "dead_letters.update_ack_levels", Some("state.condition_failed"), |database, seed| {
        filled(database, seed).await;
        prepared(move |database| async move { queue(database, seed).dead_letters().update_ack_levels(&first()).await })
    };
    "named_queue.create", Some("state.queue_already_exists"), |_database, seed| {
        prepared(move |database| async move { NamedQueues::new(database).create(&key(seed)).await })
    };
    "named_queue.enqueue", None, |database, seed| {
        NamedQueues::new(database).create(&key(seed)).await.expect("a queue");
        prepared(move |database| async move {
            NamedQueues::new(database).enqueue(&key(seed), &blob(1)).await.map(drop)
        })
    };
    "named_queue.delete_range", None, |database, seed| {
        let queues = NamedQueues::new(database);
        queues.create(&key(seed)).await.expect("a queue");
        for data in 0..3 {
            queues.enqueue(&key(seed), &blob(data)).await.expect("an id");
        }
        prepared(move |database| async move { NamedQueues::new(database).delete_range(&key(seed), 1).await.map(drop) })
    };
}
