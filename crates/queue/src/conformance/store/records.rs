//! The records of queues.

use std::time::Duration;

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{PartitionId, StoreError};
use crate::{ItemId, Namespace, PartitionInfo, QueueInfo, QueueName, QueueOptions, QueueStore};

fn name(text: &str) -> QueueName {
    text.parse().expect("a name")
}

fn record(queue: &str, namespace: &str) -> QueueInfo {
    QueueInfo {
        name: name(queue),
        namespace: namespace.parse().expect("a namespace"),
        options: QueueOptions {
            lease_timeout: Duration::from_nanos(60_000_000_001),
            expire_timeout: Duration::from_secs(86_400),
            max_attempts: 3,
            dead_queue: Some(name("dead")),
            reference: "it's \"mine\"".to_owned(),
            requested_partitions: 2,
        },
        partitions: (0..2)
            .map(|number| PartitionInfo { number, store: "main".to_owned(), read_only: number == 1 })
            .collect(),
        created_at: at(1),
        updated_at: at(2),
    }
}

async fn names(queues: &dyn QueueStore, namespace: Option<&str>, pivot: &str, limit: usize) -> Vec<String> {
    let namespace: Option<Namespace> = namespace.map(|namespace| namespace.parse().expect("a namespace"));
    let listed = queues.list(namespace.as_ref(), pivot, limit).await.expect("list");
    listed.into_iter().map(|info| info.name.to_string()).collect()
}

/// Every field, also of a queue with very many partitions.
pub async fn record_reads_back_whole(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    let plain = QueueInfo {
        options: QueueOptions {
            dead_queue: None,
            reference: String::new(),
            ..record("b", "_system").options
        },
        ..record("b", "_system")
    };
    let wide = QueueInfo {
        partitions: (0..500)
            .map(|number| PartitionInfo { number, store: format!("store {number}"), read_only: false })
            .collect(),
        ..record("wide", "_system")
    };
    for info in [record("a", "mine"), plain, wide] {
        assert!(queues.add(&info).await.expect("add"));
        assert_eq!(queues.get(&info.name).await.expect("get"), Some(info));
    }
    assert_eq!(queues.get(&name("nothing")).await.expect("get"), None);
}

/// Names are global.
pub async fn name_is_given_once(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    assert!(queues.add(&record("a", "mine")).await.expect("add"));
    assert!(!queues.add(&record("a", "theirs")).await.expect("add"));
    let kept = queues.get(&name("a")).await.expect("get").expect("the first");
    assert_eq!(kept.namespace.as_str(), "mine");
}

/// No record comes from a change.
pub async fn replace_needs_a_record(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    let mut info = record("a", "mine");
    assert!(!queues.replace(&info).await.expect("replace"));
    assert_eq!(queues.get(&info.name).await.expect("get"), None);
    queues.add(&info).await.expect("add");
    info.options.max_attempts = 9;
    info.updated_at = at(9);
    assert!(queues.replace(&info).await.expect("replace"));
    assert_eq!(queues.get(&info.name).await.expect("get"), Some(info));
}

/// Whatever the locale of the store.
pub async fn list_is_in_byte_order_from_the_pivot(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    for queue in ["b", "a", "B", "a-b", "aa", "é"] {
        queues.add(&record(queue, "_system")).await.expect("add");
    }
    assert_eq!(names(&*queues, None, "", 100).await, ["B", "a", "a-b", "aa", "b", "é"]);
    assert_eq!(names(&*queues, None, "a-b", 2).await, ["a-b", "aa"], "inclusive");
    assert_eq!(names(&*queues, None, "a0", 2).await, ["aa", "b"], "the next one where it is not stored");
    assert_eq!(names(&*queues, None, "\u{10ffff}", 100).await, [""; 0]);
    assert_eq!(names(&*queues, None, "", 0).await, [""; 0]);
}

/// Or a namespace of few queues would look empty.
pub async fn namespace_is_filtered_before_the_limit(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    for (queue, namespace) in [("a", "theirs"), ("b", "theirs"), ("c", "mine"), ("d", "mine")] {
        queues.add(&record(queue, namespace)).await.expect("add");
    }
    assert_eq!(names(&*queues, Some("mine"), "", 1).await, ["c"]);
    assert_eq!(names(&*queues, Some("mine"), "", 9).await, ["c", "d"]);
}

/// And its name is free.
pub async fn deleted_record_is_gone(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    let (mine, theirs) = (record("a", "mine"), QueueInfo { created_at: at(2), ..record("a", "theirs") });
    queues.add(&mine).await.expect("add");
    assert!(queues.delete(&mine).await.expect("delete"));
    assert!(!queues.delete(&mine).await.expect("delete"), "it is gone");
    assert_eq!(queues.get(&name("a")).await.expect("get"), None);
    assert!(queues.add(&theirs).await.expect("add"));
}

/// A server that read the record of a queue deleted since changes nothing about the next one of its name.
pub async fn record_of_a_later_queue_is_left_alone(start: Start) {
    let harness = start().await;
    let queues = harness.queues();
    let (earlier, later) = (record("a", "mine"), QueueInfo { created_at: at(2), ..record("a", "theirs") });
    queues.add(&earlier).await.expect("add");
    assert!(queues.delete(&earlier).await.expect("delete"));
    queues.add(&later).await.expect("add");
    assert!(!queues.replace(&earlier).await.expect("replace"));
    assert!(!queues.delete(&earlier).await.expect("delete"));
    assert_eq!(queues.get(&name("a")).await.expect("get"), Some(later));
}

/// Decided by the store, not by a look before.
pub async fn concurrent_adds_of_one_name_have_one_winner(start: Start) {
    let harness = start().await;
    let adds = (0..8).map(|number| {
        let queues = harness.queues();
        tokio::spawn(async move { queues.add(&record("a", &format!("n{number}"))).await.expect("add") })
    });
    let mut winners = 0;
    for add in adds.collect::<Vec<_>>() {
        winners += usize::from(add.await.expect("no panic"));
    }
    assert_eq!(winners, 1);
}

fn is_gone<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::QueueGone { .. })), "{answer:?}");
}

/// No server goes on with a queue that has no record: its items could not be found.
pub async fn deletion_of_a_record_fences_the_owners_of_its_partitions(start: Start) {
    let harness = start().await;
    let (queues, info) = (harness.queues(), record("orders", "mine"));
    queues.add(&info).await.expect("add");
    let mut line = Line::over(harness).await;
    assert!(queues.delete(&info).await.expect("delete"));
    let item = line.item("late");
    let answer = line.owner.produce(&[item]).await;
    assert!(matches!(answer, Err(StoreError::Fenced { .. })), "{answer:?}");
}

/// Whatever a server has read: a handle opens a partition of its own queue, and of no later one of the same name.
pub async fn partition_of_a_deleted_queue_is_not_opened_and_not_made(start: Start) {
    let harness = start().await;
    let (store, queues) = (harness.store(), harness.queues());
    let (earlier, later) =
        (record("orders", "mine"), QueueInfo { created_at: at(2), ..record("orders", "mine") });
    let [first, second] = [0, 1].map(|number| PartitionId { number, ..Line::partition() });
    let mut opened = store.partition_of(&first, earlier.created_at);
    is_gone(opened.open().await);
    queues.add(&earlier).await.expect("add");
    opened.open().await.expect("open");
    let mut unopened = store.partition_of(&second, earlier.created_at);
    assert!(queues.delete(&earlier).await.expect("delete"));
    for is_created_again in [false, true] {
        if is_created_again {
            queues.add(&later).await.expect("add");
        }
        let owners = async || {
            let first = store.last_owner(&first).await.expect("look");
            (first, store.last_owner(&second).await.expect("look"))
        };
        let before = owners().await;
        is_gone(opened.open().await);
        is_gone(unopened.open().await);
        assert_eq!(owners().await, before, "nothing was made");
    }
    let mut owner = store.partition_of(&first, later.created_at);
    owner.open().await.expect("open");
    is_gone(opened.open().await);
    owner.remove(&[ItemId::MIN]).await.expect("it is still the owner");
}
