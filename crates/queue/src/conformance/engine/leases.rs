//! Waiting for items, and who gets which.

use std::time::{Duration, Instant};

use super::served::{
    HOUR, LATE, MINUTE, PATIENCE, SECOND, SHORT, Served, lease_request, name, new_item, payloads, words,
};
use crate::{Error, ImportItem, LeaseRequest, NewItem};

/// A consumer that waits gets what is produced, without asking again.
pub async fn waiting_lease_is_woken_by_a_produce(served: &mut Served) {
    served.create("jobs").await;
    let waiting = served.waiting_lease("jobs", "c", 10).await;
    served.produce("jobs", &["a", "b"]).await;
    let leased = waiting.await.expect("the lease ends").expect("items");
    assert_eq!(payloads(&leased.items), ["a", "b"]);
    assert_eq!((leased.items[0].attempts, leased.items[0].lease_deadline), (1, Some(served.after(MINUTE))));
    let stored = &served.items("jobs", 0).await[0];
    assert!(stored.is_leased && stored.attempts == 1, "{stored:?}");
    served.complete("jobs", &leased).await.expect("it is held");
}

/// Items go to those who wait in the write that stores them.
pub async fn produced_items_go_straight_to_waiting_leases(served: &mut Served) {
    served.create("jobs").await;
    let waiting = served.waiting_lease("jobs", "c", 10).await;
    served.faults.take_calls("lease");
    served.produce("jobs", &["a"]).await;
    waiting.await.expect("the lease ends").expect("an item");
    assert_eq!(served.faults.take_calls("lease"), 0, "no write but the one that stored it");
}

/// A retry wakes a consumer that waits.
pub async fn waiting_lease_is_woken_by_a_retry(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let held = served.lease("jobs", 1).await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    served.retry("jobs", &held, None, false).await.expect("retry");
    assert_eq!(payloads(&waiting.await.expect("the lease ends").expect("an item").items), ["a"]);
}

/// A lease that runs out wakes a consumer that waits.
pub async fn waiting_lease_is_woken_by_an_expired_lease(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.lease("jobs", 1).await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    served.advance(MINUTE + LATE);
    assert_eq!(waiting.await.expect("the lease ends").expect("an item").items[0].attempts, 2);
}

/// A schedule that comes wakes a consumer that waits.
pub async fn waiting_lease_is_woken_by_a_schedule(served: &mut Served) {
    served.create("jobs").await;
    served.produce_at("jobs", "a", served.after(HOUR)).await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    served.advance(HOUR);
    assert_eq!(payloads(&waiting.await.expect("the lease ends").expect("an item").items), ["a"]);
}

/// An import wakes a consumer that waits.
pub async fn waiting_lease_is_woken_by_an_import(served: &mut Served) {
    served.create("jobs").await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    let item = ImportItem { payload: "a".into(), ..ImportItem::default() };
    served.engine.import_items(&name("jobs"), 0, vec![item]).await.expect("import");
    assert_eq!(payloads(&waiting.await.expect("the lease ends").expect("an item").items), ["a"]);
}

/// The words a client waits for, at its timeout, although the engine's clock stands still.
pub async fn lease_times_out_by_real_time(served: &mut Served) {
    served.create("jobs").await;
    let started = Instant::now();
    let answer = served.try_lease("jobs", 1, SHORT).await;
    assert_eq!(words(answer), "request timeout; no items are in the queue, try again");
    assert!(started.elapsed() >= SHORT);
    let stats = served.stats("jobs").await;
    assert_eq!((stats.lease_waiting, stats.in_flight), (0, 0));
}

/// A lease takes what is there.
pub async fn lease_does_not_wait_to_fill_its_batch(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    assert_eq!(served.lease("jobs", 1000).await.items.len(), 1);
}

/// One waiting request per client; the earlier one keeps waiting.
pub async fn second_waiting_lease_of_a_client_is_refused(served: &mut Served) {
    served.create("jobs").await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    let second = served.engine.lease(lease_request("jobs", "c", 1)).await;
    assert_eq!(
        words(second),
        "duplicate client id; a client cannot make multiple leased requests to the same queue"
    );
    served.produce("jobs", &["a"]).await;
    assert!(waiting.await.expect("the lease ends").is_ok());
}

/// A client that was answered may ask again at once, well or not.
pub async fn client_may_ask_again_once_it_was_answered(served: &mut Served) {
    served.create("jobs").await;
    for round in 0..50 {
        if round % 2 == 0 {
            served.produce("jobs", &["a"]).await;
            served.engine.lease(lease_request("jobs", "c", 1)).await.expect("an item");
        } else {
            let request =
                LeaseRequest { timeout: Duration::from_millis(11), ..lease_request("jobs", "c", 1) };
            let answer = served.engine.lease(request).await;
            assert!(matches!(answer, Err(Error::LeaseTimeout)), "{answer:?}");
        }
    }
}

/// A client that is gone waits no more, and gets nothing.
pub async fn dropped_lease_is_forgotten(served: &mut Served) {
    served.create("jobs").await;
    let waiting = served.waiting_lease("jobs", "c", 1).await;
    waiting.abort();
    served.until(|| async { served.stats("jobs").await.lease_waiting == 0 }).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.engine.lease(lease_request("jobs", "c", 1)).await.expect("the id is free");
    assert_eq!(leased.items[0].attempts, 1, "nobody else had it");
}

/// 23 items over requests of 20, 6 and 1.
pub async fn waiting_leases_share_in_rotation(served: &mut Served) {
    served.create("jobs").await;
    served.engine.pause(&name("jobs")).await.expect("pause");
    let mut waiting = Vec::new();
    for (client, batch_size) in [("one", 20), ("two", 6), ("three", 1)] {
        waiting.push(served.waiting_lease("jobs", client, batch_size).await);
    }
    let items: Vec<NewItem> = (0..23).map(|number| new_item(&number.to_string())).collect();
    let engine = served.engine.clone();
    let request = crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    produce.await.expect("the produce ends").expect("produce");
    let mut lens = Vec::new();
    for lease in waiting {
        lens.push(lease.await.expect("the lease ends").expect("items").items.len());
    }
    assert_eq!(lens, [16, 6, 1]);
}

/// Ten items of one produce over five leases that wait, in a queue of five partitions.
pub async fn waiting_leases_follow_the_items_to_their_partition(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 5).await;
    let mut waiting = Vec::new();
    for client in ["a", "b", "c", "d", "e"] {
        waiting.push(served.waiting_lease("jobs", client, 10).await);
    }
    let items: Vec<NewItem> = (0..10).map(|number| new_item(&number.to_string())).collect();
    served.produce_items("jobs", items, PATIENCE).await.expect("produce");
    for lease in waiting {
        assert_eq!(lease.await.expect("the lease ends").expect("items").items.len(), 2);
    }
}

/// The fullest partition is leased from, and then the other.
pub async fn lease_comes_from_the_fullest_partition(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    let items = |len: usize| vec![new_item("x"); len];
    let ten = served.produce_items("jobs", items(10), PATIENCE).await.expect("produce");
    let eleven = served.produce_items("jobs", items(11), PATIENCE).await.expect("produce");
    assert_ne!(ten.partition, eleven.partition);
    let first = served.lease("jobs", 10).await;
    assert_eq!((first.partition, first.items.len()), (eleven.partition, 10));
    let second = served.lease("jobs", 10).await;
    assert_eq!((second.partition, second.items.len()), (ten.partition, 10));
}

/// A partition full of schedules does not keep a lease from a ready item elsewhere.
pub async fn scheduled_items_do_not_attract_leases(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    let later = NewItem { enqueue_at: Some(served.after(HOUR)), ..new_item("later") };
    served.produce_items("jobs", vec![later.clone(), later.clone(), later], PATIENCE).await.expect("produce");
    served.produce("jobs", &["now"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["now"]);
    served.produce("jobs", &["again"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["again"]);
}

/// Whatever makes an item ready, in whichever partition, a lease finds it.
pub async fn lease_finds_what_is_ready_in_any_partition(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 4).await;
    for number in 0..8 {
        served.produce("jobs", &[&number.to_string()]).await;
    }
    let mut found = Vec::new();
    for _ in 0..8 {
        found.push(served.lease("jobs", 1).await);
    }
    served.assert_nothing_to_lease("jobs").await;
    for leased in &found {
        served.retry("jobs", leased, None, false).await.expect("retry");
    }
    for _ in 0..8 {
        served.lease("jobs", 1).await;
    }
    served.advance(MINUTE + LATE);
    for _ in 0..8 {
        served.lease("jobs", 1).await;
    }
    served.assert_nothing_to_lease("jobs").await;
}

/// A lease may ask for another timeout than the queue's.
pub async fn lease_timeout_may_be_chosen_by_the_request(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let ask = |timeout| LeaseRequest { lease_timeout: Some(timeout), ..lease_request("jobs", "c", 1) };
    let stored = served.engine.lease(ask(HOUR)).await.expect("an item");
    assert_eq!(stored.items[0].lease_deadline, Some(served.after(HOUR)));
    served.lease("jobs", 1).await;
    let engine = served.engine.clone();
    let waiting = tokio::spawn(async move { engine.lease(ask(2 * HOUR)).await });
    served.until(|| async { served.stats("jobs").await.lease_waiting == 1 }).await;
    served.produce("jobs", &["c"]).await;
    let direct = waiting.await.expect("the lease ends").expect("an item");
    assert_eq!(direct.items[0].lease_deadline, Some(served.after(2 * HOUR)));
    for bad in [Duration::ZERO, 24 * HOUR + SECOND] {
        let refused = words(served.engine.lease(ask(bad)).await);
        assert!(refused.starts_with("lease timeout is invalid; "), "{refused}");
    }
}

/// The rules of a request, in the words clients know; the queue is looked for first.
pub async fn bad_requests_are_refused_in_order(served: &mut Served) {
    let unknown = served.try_produce("nothing", &[], Duration::ZERO).await;
    assert_eq!(words(unknown), "queue does not exist; no such queue named 'nothing'");
    let unknown = served.try_lease("nothing", 0, Duration::ZERO).await;
    assert_eq!(words(unknown), "queue does not exist; no such queue named 'nothing'");
    served.create("jobs").await;
    let refused = words(served.try_produce("jobs", &[], Duration::ZERO).await);
    assert_eq!(refused, "request timeout is required; '5m' is recommended, 15m is the maximum");
    let refused = words(served.try_produce("jobs", &[], 16 * MINUTE).await);
    assert_eq!(refused, "request timeout is invalid; maximum timeout is '15m' but '16m0s' was requested");
    let refused = words(served.try_produce("jobs", &[], Duration::from_millis(1)).await);
    assert_eq!(refused, "request timeout is invalid; minimum timeout is '10ms' but '1ms' was requested");
    let refused = words(served.try_produce("jobs", &[], SECOND).await);
    assert_eq!(refused, "items cannot be empty; at least one item is required");
    let refused = words(served.try_produce("jobs", &["x"; 1001], SECOND).await);
    assert_eq!(refused, "items is invalid; max_produce_batch_size is 1000 but received 1001");
    let refused = words(served.engine.lease(lease_request("jobs", " ", 0)).await);
    assert_eq!(refused, "invalid client id; cannot be empty");
    let refused = words(served.engine.lease(lease_request("jobs", "c", 0)).await);
    assert_eq!(refused, "invalid batch size; must be greater than zero");
    let refused = words(served.engine.lease(lease_request("jobs", "c", 1001)).await);
    assert_eq!(refused, "invalid batch size; max_lease_batch_size is 1000, but 1001 was requested");
    assert_eq!(served.partition_stats("jobs").await.counts.ready, 0);
}
