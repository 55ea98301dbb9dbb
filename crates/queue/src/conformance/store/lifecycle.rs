//! What is due, when, and what becomes of it.

use std::time::Duration;

use leasehold_core::Timestamp;

use super::line::{Line, START, at, limit};
use crate::conformance::Start;
use crate::store::{Cleared, Counts, Deadlines, DueAction, Pick};
use crate::{Item, ItemId, ItemState};

fn just_after(instant: Timestamp) -> Timestamp {
    instant.saturating_add(Duration::from_micros(1))
}

/// The holder has the whole of its time.
pub async fn lease_is_due_strictly_after_its_deadline(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    assert_eq!(line.due(at(60)).await, []);
    assert_eq!(line.due(just_after(at(60))).await, [(held, DueAction::Reclaim)]);
}

/// A valid lease is never destroyed.
pub async fn last_attempt_dies_only_after_its_deadline(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    for (now, max_attempts, expected) in [
        (at(60), 1, None),
        (just_after(at(60)), 1, Some(DueAction::Die)),
        (just_after(at(60)), 2, Some(DueAction::Reclaim)),
        (just_after(at(60)), 0, Some(DueAction::Reclaim)),
    ] {
        let due = line.owner.due(now, max_attempts, limit(9)).await.expect("due");
        let found: Vec<_> = due.iter().map(|due| (due.id, due.action)).collect();
        let expected: Vec<_> = expected.map(|action| (held, action)).into_iter().collect();
        assert_eq!(found, expected, "at {now:?} with {max_attempts} attempts");
    }
}

/// Ready or leased, in or past its lease; due once.
pub async fn expired_item_dies_whatever_its_state(start: Start) {
    let mut line = Line::start(start).await;
    let ready = Item { expire_deadline: at(10), ..line.item("ready") };
    let held =
        Item { expire_deadline: at(11), is_leased: true, lease_deadline: Some(at(60)), ..line.item("held") };
    let lapsed = Item {
        expire_deadline: at(12),
        is_leased: true,
        lease_deadline: Some(at(5)),
        attempts: 1,
        ..line.item("lapsed")
    };
    let (ready, held, lapsed) = (line.place(ready).await, line.place(held).await, line.place(lapsed).await);
    assert_eq!(line.due(at(10)).await, [(lapsed, DueAction::Reclaim)]);
    let mut due = line.due(at(13)).await;
    due.sort_unstable_by_key(|(id, _)| *id);
    assert_eq!(due, [(ready, DueAction::Die), (held, DueAction::Die), (lapsed, DueAction::Die)]);
}

/// A scheduled item past its expire deadline waits until it is enqueued.
pub async fn scheduled_item_is_due_at_its_time_and_does_not_expire(start: Start) {
    let mut line = Line::start(start).await;
    let item = Item { expire_deadline: at(10), enqueue_at: Some(at(20)), ..line.item("scheduled") };
    let scheduled = line.place(item).await;
    assert_eq!(line.due(at(15)).await, []);
    assert_eq!(line.due(at(20)).await, [(scheduled, DueAction::Enqueue)]);
    let new_id = line.id();
    line.owner.requeue(&[(scheduled, new_id)]).await.expect("requeue");
    assert_eq!(line.due(at(20)).await, [(new_id, DueAction::Die)]);
    assert_eq!(line.ready_at(at(20)).await, []);
}

/// So that what became ready first is first in the line; at one instant the order of ids decides.
pub async fn due_items_come_longest_due_first(start: Start) {
    let mut line = Line::start(start).await;
    let late = line.scheduled("late", 30).await;
    let early = line.scheduled("early", 10).await;
    let early_too = line.scheduled("early too", 10).await;
    let held = line.produced(&["held"]).await[0];
    line.owner.lease(&[Pick { id: held, deadline: at(20) }]).await.expect("lease");
    let ids: Vec<_> = line.due(at(100)).await.into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [early, early_too, held, late]);
}

/// Work is done in bounded steps.
pub async fn due_is_limited(start: Start) {
    let mut line = Line::start(start).await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(line.scheduled("one of many", 10 + number).await);
    }
    let due = line.owner.due(at(100), 0, limit(3)).await.expect("due");
    assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), ids[..3]);
}

/// An import without one means never.
pub async fn item_without_expire_deadline_never_dies(start: Start) {
    let mut line = Line::start(start).await;
    let item = Item { expire_deadline: Timestamp::EPOCH, ..line.item("imported") };
    let id = line.place(item).await;
    assert_eq!(line.ready().await, [id]);
    assert_eq!(line.due(at(1_000_000_000)).await, []);
    assert_eq!(line.owner.deadlines().await.expect("deadlines"), Deadlines::default());
}

/// The lease is gone, the rest stays.
pub async fn requeued_item_keeps_all_but_its_place(start: Start) {
    let mut line = Line::start(start).await;
    let before = Item {
        source_id: Some("s1".to_owned()),
        is_leased: true,
        lease_deadline: Some(at(5)),
        attempts: 4,
        max_attempts: 7,
        ..line.item("held")
    };
    let id = line.place(before.clone()).await;
    let new_id = line.id();
    line.owner.requeue(&[(id, new_id)]).await.expect("requeue");
    let after = Item { id: new_id, is_leased: false, lease_deadline: None, ..before };
    assert_eq!(line.find(new_id).await, Some(after));
    assert_eq!(line.find(id).await, None);
}

/// An item may have been completed or deleted meanwhile.
pub async fn requeue_skips_what_is_not_here(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let (unknown, new_unknown, new_held) = (line.id(), line.id(), line.id());
    let moved = line.owner.requeue(&[(unknown, new_unknown), (held, new_held)]).await.expect("requeue");
    assert_eq!(moved, [new_held]);
    assert_eq!(line.ready().await, [new_held]);
}

/// Timers are set by them.
pub async fn deadlines_are_the_earliest(start: Start) {
    let mut line = Line::start(start).await;
    assert_eq!(line.owner.deadlines().await.expect("deadlines"), Deadlines::default());
    line.scheduled("later", 30).await;
    let first = line.scheduled("sooner", 20).await;
    let short = Item { expire_deadline: at(40), ..line.item("short") };
    let short = line.place(short).await;
    let held = line.leased("held").await;
    let expected = Deadlines { lease: Some(at(60)), expire: Some(at(40)), enqueue: Some(at(20)) };
    assert_eq!(line.owner.deadlines().await.expect("deadlines"), expected);
    line.owner.remove(&[first, short, held]).await.expect("remove");
    let expected = Deadlines { lease: None, expire: None, enqueue: Some(at(30)) };
    assert_eq!(line.owner.deadlines().await.expect("deadlines"), expected);
}

/// By id, and unknown ids are fine.
pub async fn removed_items_are_gone_whatever_their_state(start: Start) {
    let mut line = Line::start(start).await;
    let (held, scheduled) = (line.leased("held").await, line.scheduled("scheduled", 5).await);
    let ready = line.produced(&["ready", "kept"]).await;
    let unknown = line.id();
    let removed = line.owner.remove(&[held, unknown, scheduled, ready[0]]).await.expect("remove");
    assert_eq!(removed, Counts { ready: 1, leased: 1, scheduled: 1 });
    assert_eq!(line.ready().await, [ready[1]]);
    assert_eq!(line.payloads().await, ["kept"]);
}

/// Step by step: no step is long, each says where the next goes on, and what is not wanted is passed over.
pub async fn clear_goes_on_where_it_stopped(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let mut ids = Vec::new();
    // One more than the largest step of a store, which is 10,000.
    for _ in 0..11 {
        ids.extend(line.produced(&["x"; 1_000]).await);
    }
    let scheduled = line.scheduled("scheduled", 5).await;
    line.ready().await;
    let (mut behind, mut removed, mut steps) = (Some(ItemId::MIN), 0, 0);
    while let Some(id) = behind {
        steps += 1;
        let cleared = line.owner.clear(true, false, false, id).await.expect("clear");
        assert!(cleared.removed.ready <= 10_000, "{cleared:?}");
        removed += cleared.removed.ready;
        assert!(cleared.next.is_none_or(|next| next > id), "{cleared:?} behind {id:?}");
        let left = ids.len() - usize::try_from(removed).expect("fits");
        assert_eq!(line.ready().await, ids[ids.len() - left..], "leases find what is left");
        behind = cleared.next;
    }
    assert_eq!(usize::try_from(removed).expect("fits"), ids.len());
    assert!(steps > 1, "one step did it all: nothing went on");
    assert!(line.find(held).await.is_some() && line.find(scheduled).await.is_some());
}

/// Each state by itself.
pub async fn clear_takes_only_what_it_is_told(start: Start) {
    for (flags, left) in [
        ((true, false, false), [ItemState::Leased, ItemState::Scheduled]),
        ((false, true, false), [ItemState::Ready, ItemState::Scheduled]),
        ((false, false, true), [ItemState::Ready, ItemState::Leased]),
    ] {
        let mut line = Line::start(start).await;
        line.produced(&["ready"]).await;
        line.leased("held").await;
        line.scheduled("scheduled", 5).await;
        let (ready, leased, scheduled) = flags;
        let cleared = line.owner.clear(ready, leased, scheduled, ItemId::MIN).await.expect("clear");
        let removed = Counts { ready: ready.into(), leased: leased.into(), scheduled: scheduled.into() };
        assert_eq!(cleared, Cleared { removed, next: None });
        let counts = line.owner.stats(START).await.expect("stats").counts;
        for (state, count) in [
            (ItemState::Ready, counts.ready),
            (ItemState::Leased, counts.leased),
            (ItemState::Scheduled, counts.scheduled),
        ] {
            assert_eq!(count, u64::from(left.contains(&state)), "{state:?} after clearing {flags:?}");
        }
        assert_eq!(line.ready().await.len(), usize::from(!ready));
    }
}
