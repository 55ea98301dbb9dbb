//! Items are leased in the order in which they became ready.

use leasehold_core::Timestamp;

use super::line::{Line, START, at, limit};
use crate::conformance::Start;
use crate::store::Pick;
use crate::{Item, ItemState};

/// First in, first out.
pub async fn ready_items_come_in_order(start: Start) {
    let mut line = Line::start(start).await;
    let mut ids = line.produced(&["a", "b"]).await;
    ids.extend(line.produced(&["c"]).await);
    assert_eq!(line.ready().await, ids);
    let two = line.owner.next_ready(limit(2), START).await.expect("next_ready");
    assert_eq!(two.iter().map(|ready| ready.id).collect::<Vec<_>>(), ids[..2]);
    assert_eq!(line.ready().await, ids, "asking takes nothing");
}

/// A dead item waits for its end, not for a consumer; at its deadline it is not dead yet.
pub async fn expired_items_are_passed_over(start: Start) {
    let mut line = Line::start(start).await;
    let dying = Item { expire_deadline: at(10), ..line.item("dying") };
    let dying = line.place(dying).await;
    let living = line.produced(&["living"]).await[0];
    assert_eq!(line.ready_at(at(10)).await, [dying, living]);
    assert_eq!(line.ready_at(Timestamp::from_micros(at(10).as_micros() + 1)).await, [living]);
    assert_eq!(line.ready_at(at(10)).await, [dying, living], "being passed over changes nothing");
}

/// Only ready items are.
pub async fn scheduled_and_leased_items_are_not_ready(start: Start) {
    let mut line = Line::start(start).await;
    line.scheduled("scheduled", 5).await;
    line.leased("leased").await;
    let ready = line.produced(&["ready"]).await;
    assert_eq!(line.ready_at(at(100)).await, ready);
}

/// Whatever becomes ready does so at the tail, also between two looks at the line.
pub async fn items_at_the_tail_come_last(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let a = line.produced(&["a"]).await[0];
    assert_eq!(line.ready().await, [a]);
    let (tail, scheduled) = (line.id(), line.scheduled("scheduled", 5).await);
    assert_eq!(line.owner.requeue(&[(held, tail)]).await.expect("requeue"), [tail]);
    let b = line.produced(&["b"]).await[0];
    let last = line.id();
    line.owner.requeue(&[(scheduled, last)]).await.expect("requeue");
    assert_eq!(line.ready().await, [a, tail, b, last]);
    assert_eq!(line.payloads().await, ["a", "held", "b", "scheduled"]);
}

/// Leased items at the head do not hide what is behind them.
pub async fn ready_items_are_found_behind_many_leased_ones(start: Start) {
    let mut line = Line::start(start).await;
    let items: Vec<_> = (0..6_000).map(|number| line.item(&number.to_string())).collect();
    let ids: Vec<_> = items.iter().map(|item| item.id).collect();
    for some in items.chunks(line.owner.write_max().items) {
        line.owner.produce(some).await.expect("produce");
    }
    let mut taken = Vec::new();
    while taken.len() < ids.len() {
        let next = line.owner.next_ready(limit(999), START).await.expect("next_ready");
        assert!(!next.is_empty(), "{} of {} were found", taken.len(), ids.len());
        let picks: Vec<_> = next.iter().map(|ready| Pick { id: ready.id, deadline: at(60) }).collect();
        let leased = line.owner.lease(&picks).await.expect("lease");
        taken.extend(leased.iter().map(|item| item.id));
    }
    assert!(taken == ids, "all were leased, in order");
    let tail = line.produced(&["tail"]).await;
    assert_eq!(line.ready().await, tail);
}

/// What a consumer is told is what is stored.
pub async fn lease_sets_deadline_and_counts_the_attempt(start: Start) {
    let mut line = Line::start(start).await;
    let ids = line.produced(&["a", "b", "c"]).await;
    let picks = [Pick { id: ids[1], deadline: at(2) }, Pick { id: ids[0], deadline: at(1) }];
    let leased = line.owner.lease(&picks).await.expect("lease");
    assert_eq!(leased.iter().map(|item| item.id).collect::<Vec<_>>(), [ids[1], ids[0]], "in the order asked");
    for (item, pick) in leased.iter().zip(picks) {
        assert_eq!((item.state(), item.attempts), (ItemState::Leased, 1));
        assert_eq!(item.lease_deadline, Some(pick.deadline));
        assert_eq!(line.find(item.id).await.as_ref(), Some(item));
    }
    assert_eq!(String::from_utf8_lossy(&leased[0].payload), "b");
    assert_eq!(line.ready().await, [ids[2]]);
}

/// An item has one holder.
pub async fn lease_leaves_out_what_is_not_ready(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let scheduled = line.scheduled("scheduled", 5).await;
    let unknown = line.id();
    let ready = line.produced(&["ready"]).await[0];
    let picks = [held, scheduled, unknown, ready].map(|id| Pick { id, deadline: at(99) });
    let leased = line.owner.lease(&picks).await.expect("lease");
    assert_eq!(leased.iter().map(|item| item.id).collect::<Vec<_>>(), [ready]);
    let held = line.find(held).await.expect("still here");
    assert_eq!((held.lease_deadline, held.attempts), (Some(at(60)), 1), "its holder keeps it");
}
