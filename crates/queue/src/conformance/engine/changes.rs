//! Completing, giving back and extending what is leased.

use super::served::{HOUR, LATE, MINUTE, PATIENCE, Served, name, payloads, words};
use crate::{CompleteRequest, ExtendRequest, GivenId, ItemId, Leased, Result, RetryItem, RetryRequest, Room};

const UNKNOWN: &str = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";

async fn extend(
    served: &Served,
    leased: &Leased,
    timeout: Option<std::time::Duration>,
) -> Result<crate::Extended> {
    let request = ExtendRequest {
        queue: name("jobs"),
        partition: leased.partition.into(),
        timeout: PATIENCE,
        ids: leased.items.iter().map(|item| item.id.into()).collect(),
        lease_timeout: timeout,
    };
    served.engine.extend(request).await
}

/// Done is gone.
pub async fn completed_items_do_not_come_back(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let leased = served.lease("jobs", 10).await;
    served.complete("jobs", &leased).await.expect("complete");
    assert!(served.items("jobs", 0).await.is_empty());
    let again = served.complete("jobs", &leased).await;
    assert_eq!(words(again), format!("invalid storage id; '{}' does not exist", leased.items[0].id));
}

/// A request with a bad id does nothing; the first bad id decides, be it malformed, unknown or not leased.
pub async fn complete_happens_as_a_whole_or_not_at_all(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b", "c"]).await;
    let leased = served.lease("jobs", 2).await;
    let (a, b) = (leased.items[0].id, leased.items[1].id);
    let ready = served.items("jobs", 0).await[2].id;
    let not_leased = format!("item(s) cannot be completed; '{ready}' is not marked as leased");
    let does_not_exist = format!("invalid storage id; '{UNKNOWN}' does not exist");
    let malformed = "invalid storage id; 'junk': Valid encoded KSUIDs are 27 characters".to_owned();
    for (ids, expected) in [
        (vec![a.into(), UNKNOWN.into(), b.into()], &does_not_exist),
        (vec![a.into(), ready.into(), UNKNOWN.into()], &not_leased),
        (vec![UNKNOWN.into(), "junk".into()], &does_not_exist),
        (vec![ready.into(), "junk".into()], &not_leased),
        (vec![a.into(), "junk".into(), UNKNOWN.into()], &malformed),
        (vec!["junk".into()], &malformed),
    ] {
        let ids: Vec<GivenId> = ids;
        assert_eq!(&words(served.complete_ids("jobs", 0, ids).await), expected);
    }
    assert_eq!(served.partition_stats("jobs").await.counts.leased, 2);
    served.complete("jobs", &leased).await.expect("nothing was done before");
}

/// Requests that are carried out together do not affect each other.
pub async fn completes_of_one_batch_are_independent(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let leased = served.lease("jobs", 10).await;
    served.engine.pause(&name("jobs")).await.expect("pause");
    let complete = |ids: Vec<GivenId>| {
        let request = CompleteRequest { queue: name("jobs"), partition: 0, timeout: PATIENCE, ids };
        let engine = served.engine.clone();
        tokio::spawn(async move { engine.complete(request).await })
    };
    let bad = complete(vec![leased.items[0].id.into(), UNKNOWN.into()]);
    let good = complete(vec![leased.items[1].id.into()]);
    served.until(|| async { served.stats("jobs").await.complete_waiting == 2 }).await;
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    assert!(bad.await.expect("it ends").is_err());
    assert!(good.await.expect("it ends").is_ok());
    assert_eq!(payloads(&served.items("jobs", 0).await), ["a"]);
}

/// The rules of a request, in the words clients know.
pub async fn bad_changes_are_refused_in_order(served: &mut Served) {
    served.create("jobs").await;
    for partition in [-1, 1] {
        let refused = words(served.complete_ids("jobs", partition, vec![]).await);
        assert_eq!(refused, format!("partition is invalid; '{partition}' is not a valid partition"));
    }
    assert_eq!(
        words(served.complete_ids("jobs", 0, vec![]).await),
        "ids is invalid; list of ids cannot be empty"
    );
    let many = vec![ItemId::MIN.into(); 1001];
    assert_eq!(
        words(served.complete_ids("jobs", 0, many).await),
        "ids is invalid; max_complete_batch_size is 1000 but received 1001"
    );
    let retry = |items| served.engine.retry(RetryRequest { queue: name("jobs"), partition: 0, items });
    assert_eq!(words(retry(vec![]).await), "items is invalid; list of items cannot be empty");
    let item = RetryItem { id: ItemId::MIN.into(), retry_at: None, dead: false };
    assert_eq!(
        words(retry(vec![item; 1001]).await),
        "items is invalid; max_complete_batch_size is 1000 but received 1001"
    );
}

/// Whoever lost its lease holds an id that names nothing.
pub async fn holder_of_an_expired_lease_can_do_nothing(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let lost = served.lease("jobs", 1).await;
    served.advance(MINUTE + LATE);
    let now_held = served.lease("jobs", 1).await;
    let does_not_exist = format!("invalid storage id; '{}' does not exist", lost.items[0].id);
    assert_eq!(words(served.complete("jobs", &lost).await), does_not_exist);
    assert_eq!(words(served.retry("jobs", &lost, None, false).await), does_not_exist);
    assert_eq!(words(extend(served, &lost, None).await), does_not_exist);
    served.complete("jobs", &now_held).await.expect("the new holder is not disturbed");
}

/// A completion that comes at the deadline, before the lease is taken back, counts.
pub async fn complete_at_the_deadline_counts(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.advance(MINUTE + std::time::Duration::from_millis(5));
    served.assert_nothing_to_lease("jobs").await;
    served.complete("jobs", &leased).await.expect("it was on its way");
}

/// A retry for later schedules under the same id.
pub async fn retry_for_later_schedules(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    let at = served.after(HOUR);
    served.retry("jobs", &leased, Some(at), false).await.expect("retry");
    let scheduled = served.scheduled("jobs").await;
    assert_eq!((scheduled[0].id, scheduled[0].enqueue_at), (leased.items[0].id, Some(at)));
    assert!(!scheduled[0].is_leased);
    let complete = served.complete("jobs", &leased).await;
    assert_eq!(words(complete), format!("invalid storage id; '{}' does not exist", leased.items[0].id));
    served.advance(HOUR);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 2);
}

/// Less than 100 ms ahead is now.
pub async fn retry_for_soon_is_ready_at_once(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    for at in [served.after(std::time::Duration::from_millis(99)), served.now().saturating_sub(HOUR)] {
        let leased = served.lease("jobs", 1).await;
        served.retry("jobs", &leased, Some(at), false).await.expect("retry");
    }
    served.lease("jobs", 1).await;
}

/// A retry with a bad id does nothing.
pub async fn retry_happens_as_a_whole_or_not_at_all(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let leased = served.lease("jobs", 1).await;
    let ready = served.items("jobs", 0).await[1].id;
    let item = |id: GivenId| RetryItem { id, retry_at: None, dead: false };
    let retry = |ids: Vec<GivenId>| {
        let items = ids.into_iter().map(item).collect();
        served.engine.retry(RetryRequest { queue: name("jobs"), partition: 0, items })
    };
    let held = leased.items[0].id;
    assert_eq!(
        words(retry(vec![held.into(), ready.into()]).await),
        format!("item(s) cannot be retried; '{ready}' is not marked as leased")
    );
    let refused = words(retry(vec![held.into(), UNKNOWN.into()]).await);
    assert_eq!(refused, format!("invalid storage id; '{UNKNOWN}' does not exist"));
    assert_eq!(served.partition_stats("jobs").await.counts.leased, 1);
    served.complete("jobs", &leased).await.expect("it is still held");
}

/// An extended lease ends later, from now on.
pub async fn extended_lease_ends_later(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.advance(MINUTE / 2);
    let extended = extend(served, &leased, Some(HOUR)).await.expect("extend");
    assert_eq!(extended.lease_deadline, served.after(HOUR));
    served.advance(HOUR - MINUTE);
    served.assert_nothing_to_lease("jobs").await;
    let extended = extend(served, &leased, None).await.expect("extend");
    assert_eq!(extended.lease_deadline, served.after(MINUTE), "the queue's own lease timeout");
    served.advance(MINUTE + LATE);
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 2);
}

/// What is not held cannot be extended.
pub async fn extend_needs_a_lease(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let ready = served.items("jobs", 0).await;
    let not_held = Leased { partition: 0, items: ready.clone(), room: Room::default() };
    assert_eq!(
        words(extend(served, &not_held, None).await),
        format!("item(s) cannot be extended; '{}' is not marked as leased", ready[0].id)
    );
    let leased = served.lease("jobs", 1).await;
    assert!(extend(served, &leased, Some(25 * HOUR)).await.is_err(), "longer than an item lives");
}
