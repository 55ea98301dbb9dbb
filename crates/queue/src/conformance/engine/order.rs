//! First in, first out; and what changes an item's place.

use super::served::{HOUR, LATE, MINUTE, PATIENCE, SECOND, Served, new_item, payloads};
use crate::NewItem;

/// Ready items are leased in the order in which they were produced.
pub async fn items_are_leased_in_the_order_produced(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    served.produce("jobs", &["c"]).await;
    assert_eq!(payloads(&served.lease("jobs", 2).await.items), ["a", "b"]);
    assert_eq!(payloads(&served.lease("jobs", 2).await.items), ["c"]);
}

/// B, C, A after A was given back.
pub async fn retried_item_goes_to_the_tail_under_a_new_id(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b", "c"]).await;
    let first = served.lease("jobs", 1).await;
    served.retry("jobs", &first, None, false).await.expect("retry");
    let all = served.lease("jobs", 10).await.items;
    assert_eq!(payloads(&all), ["b", "c", "a"]);
    assert!(all[2].id > all[1].id && all[2].id != first.items[0].id);
    assert_eq!(all[2].created_at, first.items[0].created_at);
}

/// A lease that ran out puts its item behind those that are ready.
pub async fn expired_lease_goes_to_the_tail_under_a_new_id(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let first = served.lease("jobs", 1).await;
    served.advance(MINUTE + LATE);
    served.until_ready("jobs", 2).await;
    let all = served.lease("jobs", 10).await.items;
    assert_eq!(payloads(&all), ["b", "a"]);
    assert_ne!(all[1].id, first.items[0].id);
    assert_eq!((all[1].attempts, all[1].expire_deadline), (2, first.items[0].expire_deadline));
}

/// Items for the same time keep the order in which they were produced, and come behind what was ready before.
pub async fn scheduled_items_of_one_time_keep_their_order(served: &mut Served) {
    served.create("jobs").await;
    let at = served.after(HOUR);
    for payload in ["a", "b", "c"] {
        served.produce_at("jobs", payload, at).await;
    }
    served.produce("jobs", &["first"]).await;
    served.advance(HOUR);
    served.until_ready("jobs", 4).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["first", "a", "b", "c"]);
}

/// The id is the same while it waits, and a new one when it is ready.
pub async fn scheduled_item_keeps_its_id_until_it_is_due(served: &mut Served) {
    served.create("jobs").await;
    let id = served.produce_at("jobs", "later", served.after(HOUR)).await.ids[0];
    let scheduled = served.scheduled("jobs").await;
    assert_eq!((scheduled[0].id, scheduled[0].enqueue_at), (id, Some(served.after(HOUR))));
    assert!(served.items("jobs", 0).await.is_empty());
    served.advance(HOUR);
    let item = &served.lease("jobs", 1).await.items[0];
    assert!(item.id > id && item.enqueue_at.is_none(), "{item:?}");
    assert!(served.scheduled("jobs").await.is_empty());
}

/// Later schedules fire after an earlier one did.
pub async fn later_schedules_come_in_their_turn(served: &mut Served) {
    served.create("jobs").await;
    for (payload, hours) in [("third", 3), ("first", 1), ("second", 2)] {
        served.produce_at("jobs", payload, served.after(hours * HOUR)).await;
    }
    for payload in ["first", "second", "third"] {
        served.assert_nothing_to_lease("jobs").await;
        served.advance(HOUR);
        let leased = served.lease("jobs", 10).await;
        assert_eq!(payloads(&leased.items), [payload]);
        served.complete("jobs", &leased).await.expect("complete");
    }
}

/// Less than 100 ms ahead is now.
pub async fn near_enqueue_time_means_now(served: &mut Served) {
    served.create("jobs").await;
    let now = served.now();
    let near = now.saturating_add(std::time::Duration::from_millis(99));
    let far = now.saturating_add(std::time::Duration::from_millis(100));
    served.produce_at("jobs", "past", now.saturating_sub(HOUR)).await;
    served.produce_at("jobs", "near", near).await;
    served.produce_at("jobs", "far", far).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["past", "near"]);
    assert_eq!(served.partition_stats("jobs").await.counts.scheduled, 1);
}

/// Leases count attempts; retries and expiry do not.
pub async fn attempts_count_leases_only(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let first = served.lease("jobs", 1).await;
    assert_eq!(first.items[0].attempts, 1);
    served.retry("jobs", &first, None, false).await.expect("retry");
    assert_eq!(served.items("jobs", 0).await[0].attempts, 1);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 2);
    served.advance(MINUTE + LATE);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 3);
}

/// What a producer gave is what a consumer gets.
pub async fn produced_items_are_kept_whole(served: &mut Served) {
    served.create("jobs").await;
    let given = NewItem {
        enqueue_at: None,
        reference: "ref~é".into(),
        encoding: "json".into(),
        kind: "k\u{1F600}".into(),
        payload: vec![0, 255, 10, 13, 0].into(),
    };
    let empty = NewItem::default();
    served.produce_items("jobs", vec![given.clone(), empty.clone()], PATIENCE).await.expect("produce");
    let items = served.lease("jobs", 10).await.items;
    for (item, given) in items.iter().zip([given, empty]) {
        assert_eq!(
            (&item.reference, &item.encoding, &item.kind),
            (&given.reference, &given.encoding, &given.kind)
        );
        assert_eq!(item.payload, given.payload);
        assert_eq!((item.created_at, item.expire_deadline), (served.now(), served.after(24 * HOUR)));
        assert_eq!(item.lease_deadline, Some(served.after(MINUTE)));
        assert!(item.is_leased && item.source_id.is_none());
    }
}

/// One produce is never split, and produces go where the fewest items are.
pub async fn items_of_one_produce_stay_together(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    let ten: Vec<NewItem> = (0..10).map(|number| new_item(&number.to_string())).collect();
    let mut partitions = Vec::new();
    for _ in 0..5 {
        let produced = served.produce_items("jobs", ten.clone(), PATIENCE).await.expect("produce");
        partitions.push(produced.partition);
    }
    assert_eq!(partitions[..2], [0, 1]);
    let stats = served.stats("jobs").await;
    let mut counts: Vec<u64> = stats.partitions.iter().map(|partition| partition.counts.ready).collect();
    counts.sort_unstable();
    assert_eq!(counts, [20, 30]);
    let first: Vec<_> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(payloads(&served.items("jobs", 0).await[..10]), first);
}

/// Items, leases and schedules are there after a restart, and new items come behind the old ones.
pub async fn line_goes_on_after_a_restart(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    served.produce_at("jobs", "later", served.after(HOUR)).await;
    let leased = served.lease("jobs", 1).await;
    served.restart().await;
    if !served.is_durable() {
        return;
    }
    served.produce("jobs", &["c"]).await;
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["b", "c"]);
    served.complete("jobs", &leased).await.expect("the lease is still valid");
    served.advance(HOUR + SECOND);
    served.until_ready("jobs", 3).await;
    let mut all = served.lease("jobs", 10).await.items;
    all.sort_by(|one, other| one.payload.cmp(&other.payload));
    assert_eq!(payloads(&all), ["b", "c", "later"]);
}
