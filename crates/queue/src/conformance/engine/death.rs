//! Items that die, and where they go.

use super::faulty::Fault;
use super::served::{HOUR, LATE, MINUTE, PATIENCE, SECOND, Served, name, payloads, queue_change, words};
use crate::store::Counts;
use crate::{ImportItem, NewItem, QueueChange, QueueInfo, RetryItem, RetryRequest};

async fn with_dead_queue(served: &Served, set: impl FnOnce(&mut QueueChange)) {
    served.create_with("dead", |queue| queue.expire_timeout = 48 * HOUR).await;
    served
        .create_with("jobs", |queue| {
            queue.dead_queue = Some(name("dead"));
            set(queue);
        })
        .await;
}

/// A dead item comes to the dead queue as a new one that remembers where it was.
pub async fn item_declared_dead_moves_to_the_dead_queue(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    let item = NewItem {
        reference: "r".into(),
        encoding: "e".into(),
        kind: "k".into(),
        payload: "p".into(),
        enqueue_at: None,
    };
    served.produce_items("jobs", vec![item], PATIENCE).await.expect("produce");
    let leased = served.lease("jobs", 1).await;
    served.advance(SECOND);
    served.retry("jobs", &leased, Some(served.after(HOUR)), true).await.expect("retry");
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
    assert!(served.scheduled("jobs").await.is_empty());
    let dead = &served.items("dead", 0).await[0];
    assert_eq!(dead.source_id, Some(leased.items[0].id.to_string()));
    assert_eq!((dead.attempts, dead.is_leased, dead.created_at), (0, false, served.now()));
    assert_eq!(dead.expire_deadline, served.after(48 * HOUR));
    assert_eq!((dead.reference.as_str(), dead.encoding.as_str(), dead.kind.as_str()), ("r", "e", "k"));
    assert_eq!(&dead.payload[..], b"p");
    assert_eq!(served.lease("dead", 1).await.items[0].attempts, 1);
}

/// Queues that began at the same instant have different items, so a dead queue takes those of one for those of another never.
pub async fn dead_items_of_two_queues_are_all_kept(served: &mut Served) {
    served.create("dead").await;
    let payloads = ["a", "b", "c", "d"];
    for queue in ["one", "two"] {
        served.create_with(queue, |queue| queue.dead_queue = Some(name("dead"))).await;
        served.produce(queue, &payloads).await;
        let leased = served.lease(queue, 4).await;
        served.retry(queue, &leased, None, true).await.expect("retry");
    }
    served.until_empty("one").await;
    served.until_empty("two").await;
    assert_eq!(served.partition_stats("dead").await.counts.ready, 8);
}

/// A consumer that waits at the dead queue is woken.
pub async fn waiting_lease_of_the_dead_queue_is_woken(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    let waiting = served.waiting_lease("dead", "c", 1).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.retry("jobs", &leased, None, true).await.expect("retry");
    assert_eq!(payloads(&waiting.await.expect("the lease ends").expect("an item").items), ["a"]);
}

/// Without a dead queue the dead are deleted.
pub async fn item_declared_dead_is_deleted_without_a_dead_queue(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.retry("jobs", &leased, None, true).await.expect("retry");
    assert!(served.items("jobs", 0).await.is_empty());
    assert_eq!(served.partition_stats("jobs").await.counts, crate::store::Counts::default());
}

/// What was declared dead cannot be completed or given back any more.
pub async fn item_declared_dead_is_no_longer_held(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.faults.always("produce", None, Fault::Unavailable);
    served.retry("jobs", &leased, None, true).await.expect("retry");
    let does_not_exist = format!("invalid storage id; '{}' does not exist", leased.items[0].id);
    assert_eq!(words(served.complete("jobs", &leased).await), does_not_exist);
    assert_eq!(words(served.retry("jobs", &leased, None, false).await), does_not_exist);
}

/// An item that nobody leased dies too, and is in one queue only.
pub async fn expired_ready_item_moves_and_is_not_leasable(served: &mut Served) {
    with_dead_queue(served, |queue| queue.expire_timeout = HOUR).await;
    served.produce("jobs", &["a"]).await;
    served.advance(HOUR);
    assert_eq!(served.lease("jobs", 1).await.items.len(), 1, "not strictly after its deadline");
    served.produce("jobs", &["b"]).await;
    served.advance(HOUR + LATE);
    served.until_ready("dead", 2).await;
    served.assert_nothing_to_lease("jobs").await;
    served.until_empty("jobs").await;
}

/// An item that is held dies too.
pub async fn expired_leased_item_moves(served: &mut Served) {
    with_dead_queue(served, |queue| {
        queue.expire_timeout = HOUR;
        queue.lease_timeout = HOUR;
    })
    .await;
    served.produce("jobs", &["a"]).await;
    served.advance(MINUTE);
    let leased = served.lease("jobs", 1).await;
    served.advance(HOUR - MINUTE + LATE);
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
    assert!(served.complete("jobs", &leased).await.is_err());
}

/// Without a dead queue what expires is deleted, and its place in the counts too.
pub async fn expired_item_is_deleted_without_a_dead_queue(served: &mut Served) {
    served.create_with("jobs", |queue| queue.expire_timeout = HOUR).await;
    served.produce("jobs", &["a", "b"]).await;
    served.advance(HOUR + LATE);
    served.until_ready("jobs", 0).await;
    served.produce("jobs", &["c"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["c"]);
}

/// A lease at the last attempt is as good as any until it ends.
pub async fn last_attempt_lasts_until_its_deadline(served: &mut Served) {
    with_dead_queue(served, |queue| queue.max_attempts = 1).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.produce_at("jobs", "b", served.after(SECOND)).await;
    served.advance(SECOND);
    served.until_ready("jobs", 1).await;
    served.complete("jobs", &leased).await.expect("the pass has not taken it");
    assert_eq!(served.partition_stats("dead").await.counts.ready, 0);
}

/// After its last attempt an item dies instead of coming back.
pub async fn last_attempt_dies_after_its_deadline(served: &mut Served) {
    with_dead_queue(served, |queue| queue.max_attempts = 2).await;
    served.produce("jobs", &["a"]).await;
    served.lease("jobs", 1).await;
    served.advance(MINUTE + LATE);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 2);
    served.advance(MINUTE + LATE);
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
    served.assert_nothing_to_lease("jobs").await;
}

/// A retry after the last attempt is a death.
pub async fn retry_after_the_last_attempt_is_a_death(served: &mut Served) {
    with_dead_queue(served, |queue| queue.max_attempts = 2).await;
    served.produce("jobs", &["a"]).await;
    let first = served.lease("jobs", 1).await;
    served.retry("jobs", &first, None, false).await.expect("retry");
    let second = served.lease("jobs", 1).await;
    served.retry("jobs", &second, Some(served.after(HOUR)), false).await.expect("retry");
    served.until_ready("dead", 1).await;
    served.assert_nothing_to_lease("jobs").await;
}

/// A scheduled item waits for its time, and dies then if it is past its deadline.
pub async fn scheduled_item_does_not_expire_before_its_time(served: &mut Served) {
    with_dead_queue(served, |queue| queue.expire_timeout = HOUR).await;
    served.produce_at("jobs", "a", served.after(2 * HOUR)).await;
    served.advance(HOUR + MINUTE);
    assert_eq!(served.scheduled("jobs").await.len(), 1);
    served.advance(HOUR);
    served.until_ready("dead", 1).await;
}

/// An import without an expire deadline never dies.
pub async fn import_without_expire_deadline_never_dies(served: &mut Served) {
    served.create("jobs").await;
    let item = ImportItem { payload: "a".into(), ..ImportItem::default() };
    served.engine.import_items(&name("jobs"), 0, vec![item]).await.expect("import");
    served.produce("jobs", &["b"]).await;
    served.advance(1000 * HOUR);
    served.until_ready("jobs", 1).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["a"]);
}

/// A dead queue that is gone holds up nothing but the dying, which wait for it.
pub async fn missing_dead_queue_holds_up_only_the_dying(served: &mut Served) {
    with_dead_queue(served, |queue| queue.max_attempts = 1).await;
    served.engine.delete_queue(&name("dead")).await.expect("delete");
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served
        .until(|| async {
            let overview = served.engine.overview().await;
            let jobs = overview.iter().find(|queue| queue.name == name("jobs")).expect("the queue is open");
            jobs.partitions[0].frozen == 1
                && jobs.partitions[0].last_error.as_ref().is_some_and(|error| error.message.contains("dead"))
        })
        .await;
    served.produce("jobs", &["b"]).await;
    let other = served.lease("jobs", 1).await;
    assert_eq!(payloads(&other.items), ["b"]);
    served.complete("jobs", &other).await.expect("the queue works");
    served.create("dead").await;
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
}

/// While some items cannot be buried, others are still reclaimed and scheduled.
pub async fn frozen_items_do_not_stop_time(served: &mut Served) {
    with_dead_queue(served, |queue| queue.expire_timeout = HOUR).await;
    served.engine.delete_queue(&name("dead")).await.expect("delete");
    served.produce("jobs", &["dies"]).await;
    served.advance(HOUR + LATE);
    served.produce("jobs", &["a"]).await;
    served.produce_at("jobs", "later", served.after(10 * MINUTE)).await;
    let leased = served.lease("jobs", 10).await;
    assert_eq!(payloads(&leased.items), ["a"]);
    served.advance(MINUTE + SECOND);
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["a"]);
    served.advance(10 * MINUTE);
    let mut rest = Vec::new();
    while rest.len() < 2 {
        rest.extend(served.lease("jobs", 10).await.items);
    }
    let mut rest = payloads(&rest);
    rest.sort_unstable();
    assert_eq!(rest, ["a", "later"]);
}

/// Taking the dead queue away buries what waits for it.
pub async fn update_frees_the_frozen(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.engine.delete_queue(&name("dead")).await.expect("delete");
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served.until(|| async { served.engine.overview().await[0].partitions[0].last_error.is_some() }).await;
    served.engine.update_queue(&name("jobs"), QueueChange::default()).await.expect("update");
    served.until_empty("jobs").await;
}

/// A move whose last step was lost is made again, and makes no second item.
pub async fn repeated_move_makes_no_second_item(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.faults.once("remove", Fault::LostRequest);
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served.until_empty("jobs").await;
    assert_eq!(served.partition_stats("dead").await.counts.ready, 1);
    served.faults.once("produce", Fault::LostAnswer);
    served.produce("jobs", &["b"]).await;
    let leased = served.lease("jobs", 1).await;
    served.faults.once("produce", Fault::LostAnswer);
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served.until_empty("jobs").await;
    assert_eq!(served.partition_stats("dead").await.counts.ready, 2);
}

/// An item that arrived in the dead queue is not copied again because it could not be removed yet, even if its copy is
/// gone by then.
pub async fn repeated_move_makes_no_second_item_of_a_completed_one(served: &mut Served) {
    for fault in [Fault::Unavailable, Fault::LostRequest] {
        let (dead, jobs) = (format!("dead-{fault:?}"), format!("jobs-{fault:?}"));
        served.create(&dead).await;
        served.create_with(&jobs, |queue| queue.dead_queue = Some(name(&dead))).await;
        served.produce(&jobs, &["a"]).await;
        let leased = served.lease(&jobs, 1).await;
        served.faults.always("remove", None, fault);
        served.retry(&jobs, &leased, None, true).await.expect("retry");
        let copy = served.lease(&dead, 1).await;
        served.complete(&dead, &copy).await.expect("the copy is held");
        served.faults.take_calls("remove");
        served.until(|| async { served.faults.take_calls("remove") > 0 }).await;
        served.until(|| async { served.faults.take_calls("remove") > 0 }).await;
        served.faults.heal();
        served.until_empty(&jobs).await;
        assert_eq!(served.partition_stats(&dead).await.counts, Counts::default(), "{fault:?}");
    }
}

/// A dead queue without a partition, as other software makes them, holds up only the dying.
pub async fn dead_queue_without_partitions_holds_up_only_the_dying(served: &mut Served) {
    let dead = served.create("dead").await;
    served.create("better").await;
    served.create_with("jobs", |queue| queue.dead_queue = Some(name("dead"))).await;
    served.reconfigure(|_| {}).await;
    let without = QueueInfo { partitions: Vec::new(), ..dead };
    assert!(served.records().replace(&without).await.expect("replace"));
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.retry("jobs", &leased, None, true).await.expect("retry");
    let overview = || async {
        let overviews = served.engine.overview().await;
        overviews.into_iter().find(|overview| overview.name == name("jobs")).expect("it is open")
    };
    served.until(|| async { overview().await.partitions[0].last_error.is_some() }).await;
    let error = overview().await.partitions[0].last_error.clone().expect("was just seen");
    assert_eq!(error.message, "dead queue dead: it has no partitions");
    served.produce("jobs", &["b"]).await;
    assert_eq!(payloads(&served.lease("jobs", 1).await.items), ["b"]);
    let change = QueueChange { dead_queue: Some(name("better")), ..queue_change() };
    served.engine.update_queue(&name("jobs"), change).await.expect("update");
    served.until_ready("better", 1).await;
}

/// What was dying when the process ended is buried by the next.
pub async fn dying_items_survive_a_restart(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.faults.always("produce", None, Fault::Unavailable);
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served.restart().await;
    if !served.is_durable() {
        return;
    }
    served.advance(SECOND);
    served.stats("jobs").await;
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
}

/// What dies after others have gone is not late because of them.
pub async fn death_does_not_delay_the_next(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    let expire_deadline = Some(served.now().saturating_sub(SECOND));
    for dead in 1..=3 {
        let item = ImportItem { expire_deadline, payload: dead.to_string().into(), ..ImportItem::default() };
        served.engine.import_items(&name("jobs"), 0, vec![item]).await.expect("import");
        served.until_ready("dead", dead).await;
        served.until_empty("jobs").await;
    }
}

/// An item that is declared dead twice in one request, or returned as well, is refused as one that is gone.
pub async fn item_is_declared_dead_once_in_a_request(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    let id = leased.items[0].id;
    let does_not_exist = format!("invalid storage id; '{id}' does not exist");
    for dead in [true, false] {
        let items = vec![
            RetryItem { id: id.into(), retry_at: None, dead: true },
            RetryItem { id: id.into(), retry_at: None, dead },
        ];
        let request = RetryRequest { queue: name("jobs"), partition: 0, items };
        assert_eq!(words(served.engine.retry(request).await), does_not_exist);
    }
    served.retry("jobs", &leased, None, true).await.expect("still held");
    served.until_ready("dead", 1).await;
}

/// Of two retries that come together one declares the item dead; then the other finds it gone.
pub async fn item_declared_dead_is_not_returned_in_the_same_turn(served: &mut Served) {
    with_dead_queue(served, |_| {}).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.engine.pause(&name("jobs")).await.expect("pause");
    let mut retries = Vec::new();
    for dead in [true, false] {
        let items = vec![RetryItem { id: leased.items[0].id.into(), retry_at: None, dead }];
        let request = RetryRequest { queue: name("jobs"), partition: 0, items };
        let engine = served.engine.clone();
        let before = served.stats("jobs").await.complete_waiting;
        retries.push(tokio::spawn(async move { engine.retry(request).await }));
        served.until(|| async { served.stats("jobs").await.complete_waiting > before }).await;
    }
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    let [first, second] = retries.try_into().expect("two");
    first.await.expect("it ends").expect("it was held");
    let refused = words(second.await.expect("it ends"));
    assert_eq!(refused, format!("invalid storage id; '{}' does not exist", leased.items[0].id));
    served.until_ready("dead", 1).await;
    served.until_empty("jobs").await;
}
