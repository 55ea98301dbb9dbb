//! Creating, changing and deleting queues.

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use super::faulty::Fault;
use super::served::{HOUR, LATE, MINUTE, PATIENCE, SECOND, Served, name, payloads, words};
use crate::{Error, Leased, Namespace, QueueChange};

/// A queue serves when it was created, and is as it was asked for.
pub async fn created_queue_serves_at_once(served: &mut Served) {
    let created = served
        .create_with("jobs", |queue| {
            queue.requested_partitions = 3;
            queue.max_attempts = 7;
            queue.reference = "mine".into();
        })
        .await;
    assert_eq!((created.partitions.len(), created.created_at), (3, served.now()));
    assert_eq!(created.namespace, Namespace::default());
    assert_eq!(served.engine.queue_info(&name("jobs")).await.expect("info"), created);
    let stats = served.stats("jobs").await;
    assert!(stats.partitions.iter().all(|partition| partition.failures == 0));
    served.produce("jobs", &["a"]).await;
}

/// The rules of a queue, in the words clients know.
pub async fn bad_queues_are_refused(served: &mut Served) {
    served.create("dead").await;
    served.create_with("jobs", |queue| queue.dead_queue = Some(name("dead"))).await;
    assert_eq!(words(served.try_create("jobs", |_| {}).await), "invalid queue; 'jobs' already exists");
    let refused = served.try_create("x", |queue| queue.dead_queue = Some(name("x"))).await;
    assert_eq!(words(refused), "dead_queue cannot reference itself");
    let refused = served.try_create("x", |queue| queue.dead_queue = Some(name("gone"))).await;
    assert_eq!(words(refused), "dead_queue does not exist; 'gone' was not found, create it first");
    let refused = served.try_create("x", |queue| queue.dead_queue = Some(name("jobs"))).await;
    assert_eq!(words(refused), "dead_queue is invalid; 'jobs' already has its own dead_queue configured");
    let refused = served.try_create("x", |queue| queue.requested_partitions = 0).await;
    assert_eq!(words(refused), "partitions is invalid; cannot be less than 1");
    let refused = served.try_create("x", |queue| queue.lease_timeout = 25 * HOUR).await;
    assert_eq!(
        words(refused),
        "lease timeout is too long; 25h0m0s cannot be greater than the expire timeout 24h0m0s"
    );
    assert!(matches!(served.engine.queue_info(&name("x")).await, Err(Error::QueueNotFound { .. })));
}

/// A stored queue is opened when it is needed, once, however many need it.
pub async fn queue_is_opened_once_on_first_use(served: &mut Served) {
    served.create("jobs").await;
    served.reconfigure(|_| {}).await;
    served.faults.take_calls("open");
    let produces: Vec<_> = (0..50)
        .map(|number| {
            let engine = served.engine.clone();
            tokio::spawn(async move {
                let items = vec![super::served::new_item(&number.to_string())];
                engine.produce(crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items }).await
            })
        })
        .collect();
    for produce in produces {
        produce.await.expect("it ends").expect("produce");
    }
    assert_eq!(served.faults.take_calls("open"), 1);
    assert_eq!(served.partition_stats("jobs").await.counts.ready, 50);
    assert_eq!(words(served.try_create("jobs", |_| {}).await), "invalid queue; 'jobs' already exists");
}

/// The queue goes on with the merged record, and shows it.
pub async fn update_goes_on_with_the_merged_record(served: &mut Served) {
    served.create_with("jobs", |queue| queue.reference = "old".into()).await;
    served.advance(SECOND);
    let change = QueueChange { max_attempts: 5, ..QueueChange::default() };
    let updated = served.engine.update_queue(&name("jobs"), change).await.expect("update");
    assert_eq!((updated.options.lease_timeout, updated.options.max_attempts), (MINUTE, 5));
    assert_eq!((updated.options.reference.as_str(), updated.updated_at), ("", served.now()));
    assert_eq!(served.engine.queue_info(&name("jobs")).await.expect("info"), updated);
    assert_eq!(*served.engine.queue(&name("jobs")).await.expect("open"), updated);
    served.produce("jobs", &["a"]).await;
    assert_eq!(served.lease("jobs", 1).await.items[0].lease_deadline, Some(served.after(MINUTE)));
}

/// New timeouts are for what comes later; the limit of attempts counts at once.
pub async fn update_takes_effect_as_promised(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let held = served.lease("jobs", 1).await;
    let change = QueueChange {
        lease_timeout: 2 * MINUTE,
        expire_timeout: HOUR,
        max_attempts: 1,
        ..QueueChange::default()
    };
    served.engine.update_queue(&name("jobs"), change).await.expect("update");
    let later = served.lease("jobs", 1).await;
    assert_eq!(later.items[0].lease_deadline, Some(served.after(2 * MINUTE)));
    assert_eq!(later.items[0].expire_deadline, served.after(24 * HOUR));
    assert_eq!(served.items("jobs", 0).await[0].lease_deadline, held.items[0].lease_deadline);
    served.advance(MINUTE + LATE);
    served.until(|| async { payloads(&served.items("jobs", 0).await) == ["b"] }).await;
}

/// The rules hold for the merged record, and nothing changes if they are broken.
pub async fn bad_updates_are_refused(served: &mut Served) {
    let created = served.create("jobs").await;
    let update = |change| served.engine.update_queue(&created.name, change);
    let change = QueueChange { lease_timeout: 25 * HOUR, ..QueueChange::default() };
    assert!(words(update(change).await).starts_with("lease timeout is too long; "));
    let change = QueueChange { dead_queue: Some(name("jobs")), ..QueueChange::default() };
    assert_eq!(words(update(change).await), "dead_queue cannot reference itself");
    let unknown = served.engine.update_queue(&name("x"), QueueChange::default()).await;
    assert_eq!(words(unknown), "queue does not exist; no such queue named 'x'");
    assert_eq!(served.engine.queue_info(&created.name).await.expect("info"), created);
}

/// A deleted queue is gone with its items, and whoever waits is told.
pub async fn deleted_queue_takes_its_items_along(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    served.produce_at("jobs", "later", served.after(HOUR)).await;
    served.lease("jobs", 1).await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    served.engine.delete_queue(&name("jobs")).await.expect("delete");
    assert_eq!(words(waiting.await.expect("it ends")), "queue is shutting down");
    let gone = "queue does not exist; no such queue named 'jobs'";
    assert_eq!(words(served.try_produce("jobs", &["x"], SECOND).await), gone);
    assert_eq!(words(served.engine.delete_queue(&name("jobs")).await), gone);
    served.create("jobs").await;
    assert!(served.items("jobs", 0).await.is_empty());
    assert!(served.scheduled("jobs").await.is_empty());
    served.produce("jobs", &["new"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["new"]);
}

/// What a deletion could not drop is dropped before a queue of that name serves again.
pub async fn leftovers_are_dropped_when_a_queue_is_created(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["old"]).await;
    served.faults.once("drop", Fault::Unavailable);
    served.engine.delete_queue(&name("jobs")).await.expect("its record is gone");
    served.faults.once("drop", Fault::Unavailable);
    assert!(served.try_create("jobs", |_| {}).await.is_err());
    served.create("jobs").await;
    assert!(served.items("jobs", 0).await.is_empty());
}

/// A store that cannot be asked what is left behind has not been changed, and nobody is told that it may have been.
pub async fn create_that_cannot_look_is_known_not_to_have_happened(served: &mut Served) {
    served.reconfigure(|config| config.storage_timeout = SECOND / 5).await;
    served.faults.always("last_owner", None, Fault::Hang);
    let created = served.try_create("jobs", |_| {}).await;
    assert!(matches!(created, Err(Error::Storage(_))), "{created:?}");
    served.faults.heal();
    served.reconfigure(|config| config.storage_timeout = PATIENCE).await;
    let gone = served.engine.queue_info(&name("jobs")).await;
    assert!(matches!(gone, Err(Error::QueueNotFound { .. })), "{gone:?}");
    served.create("jobs").await;
}

/// A queue and its dead queue, which it does not know of yet, and one item that is leased.
async fn without_dead_queue(served: &Served) -> Leased {
    served.create("dead").await;
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.lease("jobs", 1).await
}

fn to_dead_queue(max_attempts: i64) -> QueueChange {
    QueueChange { dead_queue: Some(name("dead")), max_attempts, ..QueueChange::default() }
}

/// Whether this update is stored, and the running queue obeys it.
async fn is_in_force(served: &Served, max_attempts: u32) -> bool {
    let stored = served.records().get(&name("jobs")).await.expect("get").expect("it is there");
    let running = served.engine.queue(&name("jobs")).await.expect("it is open");
    stored.options.max_attempts == max_attempts && *running == stored
}

/// The item goes to the dead queue, if the partition knows of it.
async fn assert_dies_there(served: &Served, leased: &Leased) {
    served.retry("jobs", leased, None, true).await.expect("it is held");
    served.until_ready("dead", 1).await;
}

/// What is stored is what the queue does, though it took a second look to know.
pub async fn update_whose_answer_is_lost_is_in_force(served: &mut Served) {
    let leased = without_dead_queue(served).await;
    served.faults.once("record_replace", Fault::LostAnswer);
    served.engine.update_queue(&name("jobs"), to_dead_queue(5)).await.expect("it is stored");
    assert!(is_in_force(served, 5).await);
    assert_dies_there(served, &leased).await;
}

/// The caller does not wait for ever; the queue does.
pub async fn update_whose_outcome_is_unknown_is_in_force_once_it_is_read(served: &mut Served) {
    let leased = without_dead_queue(served).await;
    served.reconfigure(|config| config.storage_timeout = SECOND).await;
    assert_eq!(served.partition_stats("jobs").await.counts.leased, 1, "it is open");
    served.faults.once("record_replace", Fault::LostAnswer);
    served.faults.always_after("record_replace", "record_get", Fault::Unavailable);
    let answer = served.engine.update_queue(&name("jobs"), to_dead_queue(5)).await;
    assert!(matches!(answer, Err(Error::Indeterminate { .. })), "{answer:?}");
    served.faults.heal();
    served.until(|| is_in_force(served, 5)).await;
    assert_dies_there(served, &leased).await;
}

/// Wherever it was when its caller left.
pub async fn update_of_a_caller_who_left_is_in_force(served: &mut Served) {
    let leased = without_dead_queue(served).await;
    let queue = name("jobs");
    let mut max_attempts = 5;
    for operation in ["record_get", "record_replace"] {
        served.faults.take_calls(operation);
        served.faults.once(operation, Fault::Held);
        let engine = served.engine.clone();
        let update =
            tokio::spawn(
                async move { engine.update_queue(&name("jobs"), to_dead_queue(max_attempts)).await },
            );
        served.until(|| async { served.faults.take_calls(operation) == 1 }).await;
        update.abort();
        assert!(update.await.expect_err("it was aborted").is_cancelled());
        served.faults.release();
        served.until(|| is_in_force(served, u32::try_from(max_attempts).expect("small"))).await;
        max_attempts += 1;
    }
    for polls in 1..4 {
        let mut update = Box::pin(served.engine.update_queue(&queue, to_dead_queue(max_attempts)));
        for _ in 0..polls {
            let polled = std::future::poll_fn(|context| Poll::Ready(update.as_mut().poll(context)));
            if polled.await.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(update);
        served.until(|| is_in_force(served, u32::try_from(max_attempts).expect("small"))).await;
        max_attempts += 1;
    }
    assert_dies_there(served, &leased).await;
}

/// One that is slow obeys the record when it goes on, and keeps no manager waiting.
pub async fn update_does_not_wait_for_a_partition(served: &mut Served) {
    let leased = without_dead_queue(served).await;
    served.faults.once("produce", Fault::Held);
    served.faults.take_calls("produce");
    let engine = served.engine.clone();
    let items = vec![super::served::new_item("b")];
    let request = crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.faults.take_calls("produce") == 1 }).await;
    let queue = name("jobs");
    let update = served.engine.update_queue(&queue, to_dead_queue(5));
    tokio::time::timeout(PATIENCE, update).await.expect("it does not wait").expect("update");
    assert!(is_in_force(served, 5).await);
    served.faults.release();
    produce.await.expect("it ends").expect("produce");
    assert_dies_there(served, &leased).await;
}

/// Halfway would be a queue that cannot be used, or items of one that is gone.
pub async fn queue_is_created_and_deleted_although_its_caller_left(served: &mut Served) {
    for operation in ["last_owner", "record_add"] {
        served.faults.take_calls(operation);
        served.faults.once(operation, Fault::Held);
        let engine = served.engine.clone();
        let create = tokio::spawn(async move {
            engine.create_queue(name("jobs"), Namespace::default(), super::served::queue_change()).await
        });
        served.until(|| async { served.faults.take_calls(operation) == 1 }).await;
        create.abort();
        assert!(create.await.expect_err("it was aborted").is_cancelled());
        served.faults.release();
        served.until(|| async { served.engine.queue_info(&name("jobs")).await.is_ok() }).await;
        served.produce("jobs", &["a"]).await;
        served.faults.take_calls("drop");
        served.faults.once("drop", Fault::Held);
        let engine = served.engine.clone();
        let delete = tokio::spawn(async move { engine.delete_queue(&name("jobs")).await });
        served.until(|| async { served.faults.take_calls("drop") == 1 }).await;
        delete.abort();
        assert!(delete.await.expect_err("it was aborted").is_cancelled());
        served.faults.release();
        served.until(|| async { served.engine.queue_info(&name("jobs")).await.is_err() }).await;
    }
}

/// It exists, so it is not refused as one that exists already.
pub async fn create_whose_answer_is_lost_is_settled(served: &mut Served) {
    served.faults.once("record_add", Fault::LostAnswer);
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.reconfigure(|config| config.storage_timeout = SECOND).await;
    served.faults.once("record_add", Fault::LostRequest);
    let answer = served.try_create("other", |_| {}).await;
    assert!(matches!(answer, Err(Error::Indeterminate { .. })), "{answer:?}");
    served.create("other").await;
}

/// Lists show one namespace, in order, from the pivot.
pub async fn queues_are_listed_by_namespace(served: &mut Served) {
    for queue in ["b", "a", "c"] {
        served.create(queue).await;
    }
    let other: Namespace = "other".parse().expect("a namespace");
    let change = QueueChange {
        lease_timeout: MINUTE,
        expire_timeout: HOUR,
        requested_partitions: 1,
        ..QueueChange::default()
    };
    served.engine.create_queue(name("aa"), other.clone(), change).await.expect("create");
    let list = async |namespace: Option<&Namespace>, pivot: &str, limit: i64| -> Vec<String> {
        let listed = served.engine.list_queues(namespace, pivot, limit).await.expect("list");
        listed.iter().map(|info| info.name.as_str().to_owned()).collect()
    };
    let system = Namespace::default();
    assert_eq!(list(Some(&system), "", 0).await, ["a", "b", "c"]);
    assert_eq!(list(Some(&system), "aa", 1).await, ["b"]);
    assert_eq!(list(Some(&other), "", 0).await, ["aa"]);
    assert_eq!(list(None, "aa", 0).await, ["aa", "b", "c"]);
    let refused = |limit, pivot: &'static str| {
        let engine = served.engine.clone();
        async move { words(engine.list_queues(None, pivot, limit).await) }
    };
    assert_eq!(refused(-1, "").await, "limit is invalid; limit cannot be negative");
    assert_eq!(refused(65_537, "").await, "limit is invalid; cannot be greater than 65536");
    assert_eq!(refused(1, "a~").await, "pivot is invalid; 'a~' cannot contain '~' character");
}

/// Names of queues that do not exist leave nothing behind, whatever they are.
pub async fn hostile_names_are_found_or_not(served: &mut Served) {
    let names = ["../../etc/passwd", "a/b", "%00", "'; DROP TABLE queues; --", "ü", "\"quoted\"", "A", "a"];
    for hostile in names {
        let Ok(queue) = hostile.parse::<crate::QueueName>() else {
            continue;
        };
        served.create(queue.as_str()).await;
        served.produce(queue.as_str(), &[hostile]).await;
    }
    for hostile in names {
        let Ok(queue) = hostile.parse::<crate::QueueName>() else {
            continue;
        };
        assert_eq!(payloads(&served.items(queue.as_str(), 0).await), [hostile]);
    }
    assert!(matches!(
        served.try_produce("nobody", &["x"], Duration::from_secs(1)).await,
        Err(Error::QueueNotFound { .. })
    ));
}
