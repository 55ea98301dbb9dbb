//! Property 4: concurrency safety. Who waits to add a message while those before it come and go still adds it behind the last:
//! an id below what the readers have done with is one that nobody reads.

use leasehold_persistence::{Blob, NamedQueueKey, NamedQueues, PageSize, Queue, QueueType};

use super::waited_for;
use crate::fixture::Fixture;

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn named_message_is_added_behind_the_last_though_all_that_was_seen_is_deleted() {
    let fixture = Fixture::postgres().await;
    let (queues, key) =
        (NamedQueues::new(fixture.database.clone()), NamedQueueKey::new(2, "orders").expect("a key"));
    queues.create(&key).await.expect("a queue");
    for data in 0..6 {
        queues.enqueue(&key, &blob(data)).await.expect("an id");
    }
    let holder = fixture.outside().await;
    let hold = "BEGIN;
                SELECT FROM queues FOR UPDATE;
                SELECT FROM queue_messages WHERE message_id = 5 FOR UPDATE";
    holder.batch_execute(hold).await.expect("held");
    let waiting = tokio::spawn({
        let (queues, key) = (queues.clone(), key.clone());
        async move { queues.enqueue(&key, &blob(7)).await }
    });
    waited_for(&holder, &fixture.outside().await).await;
    // What another who adds one and another who deletes do, at once.
    let meanwhile = "INSERT INTO queue_messages VALUES (2, 'orders', 0, 6, '\\x06', 'Proto3');
                     DELETE FROM queue_messages WHERE message_id <= 5;
                     UPDATE queues SET metadata_payload = '\\x0a06080012020806';
                     COMMIT";
    holder.batch_execute(meanwhile).await.expect("a change");
    assert_eq!(waiting.await.expect("no panic").expect("an id"), 7);
    let read = queues.read(&key, PageSize::MAX, None).await.expect("messages").items;
    assert_eq!(read.iter().map(|message| message.id).collect::<Vec<_>>(), [6, 7]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn message_is_added_behind_the_last_though_all_that_was_seen_is_deleted() {
    let fixture = Fixture::postgres().await;
    let queue = Queue::new(fixture.database.clone(), QueueType::NAMESPACE_REPLICATION);
    queue.init(&Blob::proto3(vec![])).await.expect("a queue");
    for data in 0..6 {
        queue.enqueue(&blob(data)).await.expect("an id");
    }
    let holder = fixture.outside().await;
    let hold = "BEGIN;
                SELECT FROM queue_metadata WHERE queue_type = 1 FOR UPDATE;
                SELECT FROM queue WHERE message_id = 5 FOR UPDATE";
    holder.batch_execute(hold).await.expect("held");
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move { queue.enqueue(&blob(7)).await }
    });
    waited_for(&holder, &fixture.outside().await).await;
    let meanwhile = "INSERT INTO queue VALUES (1, 6, '\\x06', 'Proto3');
                     UPDATE queue_metadata SET data = '\\x0a060a0265751006' WHERE queue_type = 1;
                     DELETE FROM queue WHERE message_id <= 5;
                     COMMIT";
    holder.batch_execute(meanwhile).await.expect("a change");
    assert_eq!(waiting.await.expect("no panic").expect("an id"), 7);
    let read = queue.read(6, PageSize::MAX).await.expect("messages");
    assert_eq!(read.iter().map(|message| message.id).collect::<Vec<_>>(), [7]);
}
