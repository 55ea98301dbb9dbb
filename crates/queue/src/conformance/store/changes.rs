//! Completing, returning, scheduling and extending need the lease, and a request happens whole or not at all.

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{Change, DueAction, Missing, Verdict};
use crate::{ItemId, ItemState};

fn complete(ids: &[ItemId]) -> Vec<Change> {
    ids.iter().map(|id| Change::Complete { id: *id }).collect()
}

fn refused(id: ItemId, missing: Missing) -> Verdict {
    Verdict::Refused { id, missing }
}

/// Done is gone.
pub async fn completed_items_are_gone(start: Start) {
    let mut line = Line::start(start).await;
    let (a, b) = (line.leased("a").await, line.leased("b").await);
    assert_eq!(line.change(&complete(&[a, b])).await, Verdict::Done);
    assert_eq!(line.payloads().await, [""; 0]);
    assert_eq!(line.change(&complete(&[a])).await, refused(a, Missing::Item));
}

/// Atomic, whatever the place of the bad one.
pub async fn request_with_an_unknown_id_changes_nothing(start: Start) {
    let mut line = Line::start(start).await;
    let (a, b) = (line.leased("a").await, line.leased("b").await);
    let unknown = line.id();
    for ids in [[a, b, unknown], [a, unknown, b], [unknown, a, b]] {
        assert_eq!(line.change(&complete(&ids)).await, refused(unknown, Missing::Item));
    }
    assert_eq!(line.payloads().await, ["a", "b"]);
}

/// The lease is what allows it.
pub async fn request_with_an_unleased_id_changes_nothing(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let ready = line.produced(&["ready"]).await[0];
    let new_id = line.id();
    for change in [
        Change::Complete { id: ready },
        Change::Return { id: ready, new_id },
        Change::Schedule { id: ready, at: at(9) },
        Change::Extend { id: ready, deadline: at(9) },
        Change::Expire { id: ready, at: at(0) },
    ] {
        let verdict = line.change(&[Change::Complete { id: held }, change]).await;
        assert_eq!(verdict, refused(ready, Missing::Lease), "{change:?}");
    }
    assert_eq!(line.payloads().await, ["held", "ready"]);
    assert_eq!(line.ready().await, [ready]);
}

/// In the order of the request.
pub async fn first_bad_id_decides(start: Start) {
    let mut line = Line::start(start).await;
    let ready = line.produced(&["ready"]).await[0];
    let (held, unknown) = (line.leased("held").await, line.id());
    assert_eq!(line.change(&complete(&[held, ready, unknown])).await, refused(ready, Missing::Lease));
    assert_eq!(line.change(&complete(&[held, unknown, ready])).await, refused(unknown, Missing::Item));
}

/// One bad request in a batch spoils only itself.
pub async fn requests_do_not_affect_each_other(start: Start) {
    let mut line = Line::start(start).await;
    let (a, b, c) = (line.leased("a").await, line.leased("b").await, line.leased("c").await);
    let unknown = line.id();
    let requests = [complete(&[a]), complete(&[b, unknown]), complete(&[c])];
    let verdicts = line.owner.change(&[&requests[0], &requests[1], &requests[2]]).await.expect("change");
    assert_eq!(verdicts, [Verdict::Done, refused(unknown, Missing::Item), Verdict::Done]);
    assert_eq!(line.payloads().await, ["b"]);
    assert_eq!(line.find(b).await.expect("kept").state(), ItemState::Leased);
}

/// Scheduled items are not there yet.
pub async fn scheduled_item_does_not_exist_for_a_change(start: Start) {
    let mut line = Line::start(start).await;
    let scheduled = line.scheduled("scheduled", 5).await;
    assert_eq!(line.change(&complete(&[scheduled])).await, refused(scheduled, Missing::Item));
}

/// The second time it is gone.
pub async fn same_id_twice_in_a_request_is_refused(start: Start) {
    let mut line = Line::start(start).await;
    let a = line.leased("a").await;
    assert_eq!(line.change(&complete(&[a, a])).await, refused(a, Missing::Item));
    assert_eq!(line.payloads().await, ["a"]);
}

/// Two consumers complete one item: one of them did.
pub async fn id_taken_by_an_earlier_request_is_gone(start: Start) {
    let mut line = Line::start(start).await;
    let (a, b) = (line.leased("a").await, line.leased("b").await);
    let requests = [complete(&[a]), complete(&[b, a]), complete(&[b])];
    let verdicts = line.owner.change(&[&requests[0], &requests[1], &requests[2]]).await.expect("change");
    assert_eq!(verdicts, [Verdict::Done, refused(a, Missing::Item), Verdict::Done]);
    assert_eq!(line.payloads().await, [""; 0]);
}

/// Under a new id: the old one is worth nothing.
pub async fn returned_item_is_ready_at_the_tail(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let other = line.produced(&["other"]).await[0];
    let new_id = line.id();
    assert_eq!(line.change(&[Change::Return { id: held, new_id }]).await, Verdict::Done);
    assert_eq!(line.ready().await, [other, new_id]);
    assert_eq!(line.find(held).await, None);
    let item = line.find(new_id).await.expect("at the tail");
    assert_eq!((item.state(), item.attempts, item.lease_deadline), (ItemState::Ready, 1, None));
    assert_eq!(line.change(&complete(&[held])).await, refused(held, Missing::Item));
}

/// Until its time.
pub async fn scheduled_item_keeps_its_id_and_waits(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    assert_eq!(line.change(&[Change::Schedule { id: held, at: at(30) }]).await, Verdict::Done);
    let item = line.find(held).await.expect("still here");
    assert_eq!(
        (item.state(), item.enqueue_at, item.lease_deadline),
        (ItemState::Scheduled, Some(at(30)), None)
    );
    assert_eq!(line.ready_at(at(100)).await, []);
    assert_eq!(line.due(at(100)).await, [(held, DueAction::Enqueue)], "its lease is over, not due");
}

/// An extension moves the deadline and nothing else.
pub async fn extended_item_is_held_longer(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    assert_eq!(line.change(&[Change::Extend { id: held, deadline: at(120) }]).await, Verdict::Done);
    let item = line.find(held).await.expect("still here");
    assert_eq!((item.state(), item.attempts, item.lease_deadline), (ItemState::Leased, 1, Some(at(120))));
    assert_eq!(line.due(at(100)).await, []);
    assert_eq!(line.due(at(121)).await, [(held, DueAction::Reclaim)]);
}

/// How a consumer sends an item to the dead queue: it must get there after a crash too.
pub async fn expired_mark_makes_a_held_item_due(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    assert_eq!(line.change(&[Change::Expire { id: held, at: at(1) }]).await, Verdict::Done);
    let item = line.find(held).await.expect("still here");
    assert_eq!((item.state(), item.expire_deadline), (ItemState::Leased, at(1)));
    assert_eq!(line.due(at(2)).await, [(held, DueAction::Die)]);
    assert_eq!(line.owner.deadlines().await.expect("deadlines").expire, Some(at(1)));
}

/// Every kind in one request.
pub async fn mixed_changes_of_one_request_happen_together(start: Start) {
    let mut line = Line::start(start).await;
    let [a, b, c, d] =
        [line.leased("a").await, line.leased("b").await, line.leased("c").await, line.leased("d").await];
    let (new_id, unknown) = (line.id(), line.id());
    let changes = vec![
        Change::Complete { id: a },
        Change::Return { id: b, new_id },
        Change::Schedule { id: c, at: at(5) },
        Change::Extend { id: d, deadline: at(90) },
    ];
    let mut spoilt = changes.clone();
    spoilt.push(Change::Complete { id: unknown });
    let verdicts = line.owner.change(&[&spoilt, &changes]).await.expect("change");
    assert_eq!(verdicts, [refused(unknown, Missing::Item), Verdict::Done]);
    assert_eq!(line.payloads().await, ["d", "b"]);
    assert_eq!(line.ready().await, [new_id]);
    assert_eq!(line.due(at(91)).await, [(c, DueAction::Enqueue), (d, DueAction::Reclaim)]);
}
