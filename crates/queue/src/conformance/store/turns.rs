//! Produces, leases and changes that are given together: each happens as by itself.

use super::line::{Line, START, at};
use crate::conformance::Harness;
use crate::store::{Change, Missing, Pick, Placement, StoreError, Turn, Turned, Verdict};
use crate::{Item, ItemId, ItemState};

fn done(turned: Turned) -> (Vec<Placement>, Vec<Item>, Vec<Verdict>) {
    assert!(turned.error.is_none(), "{turned:?}");
    let Turned { placements: Some(placements), leased: Some(leased), verdicts: Some(verdicts), .. } = turned
    else {
        panic!("every part has its answer")
    };
    (placements, leased, verdicts)
}

fn pick(id: ItemId) -> Pick {
    Pick { id, deadline: at(60) }
}

/// The answers are those of three writes, and so is what is stored.
pub async fn turn_does_what_three_writes_do<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let (held, returned) = (line.leased("held").await, line.leased("returned").await);
    let ready = line.produced(&["first", "second"]).await;
    let items = [line.item("new"), line.item("newer")];
    let new_id = line.id();
    let requests: [&[Change]; 2] =
        [&[Change::Complete { id: held }], &[Change::Return { id: returned, new_id }]];
    let picks = [pick(ready[1]), pick(ready[0])];
    let turn = Turn { items: &items, picks: &picks, requests: &requests };
    let (placements, leased, verdicts) = done(line.owner.turn(&turn).await);
    assert_eq!(placements, [Placement::Placed; 2]);
    assert_eq!(leased.iter().map(|item| item.id).collect::<Vec<_>>(), [ready[1], ready[0]]);
    assert!(leased.iter().all(|item| item.attempts == 1 && item.lease_deadline == Some(at(60))));
    assert_eq!(leased[1].payload, "first");
    assert_eq!(verdicts, [Verdict::Done; 2]);
    assert_eq!(line.payloads().await, ["first", "second", "new", "newer", "returned"]);
    assert_eq!(line.ready().await, [items[0].id, items[1].id, new_id]);
    assert_eq!(line.find(items[0].id).await.as_ref(), Some(&items[0]));
    let counts = line.owner.stats(START).await.expect("stats").counts;
    assert_eq!((counts.ready, counts.leased), (3, 2));
}

/// A part may be missing.
pub async fn parts_of_a_turn_may_be_empty<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let (a, b) = (line.leased("a").await, line.produced(&["b"]).await[0]);
    let item = line.item("c");
    let complete: &[&[Change]] = &[&[Change::Complete { id: a }]];
    let nothing = done(line.owner.turn(&Turn::default()).await);
    assert_eq!(nothing, (Vec::new(), Vec::new(), Vec::new()));
    let turn = Turn { items: std::slice::from_ref(&item), requests: complete, ..Turn::default() };
    let (placements, leased, verdicts) = done(line.owner.turn(&turn).await);
    assert_eq!((placements, leased.len(), verdicts), (vec![Placement::Placed], 0, vec![Verdict::Done]));
    let picks = [pick(b)];
    let requests: &[&[Change]] = &[&[Change::Complete { id: a }]];
    let turn = Turn { picks: &picks, requests, ..Turn::default() };
    let (placements, leased, verdicts) = done(line.owner.turn(&turn).await);
    assert_eq!((placements.len(), leased.len()), (0, 1));
    assert_eq!(verdicts, [Verdict::Refused { id: a, missing: Missing::Item }]);
    assert_eq!(line.payloads().await, ["b", "c"]);
}

/// What is refused undoes nothing: not the produce, not the lease, not the requests that stand.
pub async fn refused_request_of_a_turn_undoes_nothing<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let (a, b) = (line.leased("a").await, line.leased("b").await);
    let ready = line.produced(&["ready", "not leased"]).await;
    let unknown = line.id();
    let item = line.item("new");
    let requests: [&[Change]; 4] = [
        &[Change::Complete { id: a }, Change::Complete { id: unknown }],
        &[Change::Complete { id: b }],
        &[Change::Complete { id: ready[1] }],
        &[Change::Extend { id: a, deadline: at(99) }],
    ];
    let picks = [pick(ready[0])];
    let turn = Turn { items: std::slice::from_ref(&item), picks: &picks, requests: &requests };
    let (placements, leased, verdicts) = done(line.owner.turn(&turn).await);
    assert_eq!((placements, leased[0].id), (vec![Placement::Placed], ready[0]));
    let refused = |id, missing| Verdict::Refused { id, missing };
    let expected =
        [refused(unknown, Missing::Item), Verdict::Done, refused(ready[1], Missing::Lease), Verdict::Done];
    assert_eq!(verdicts, expected);
    assert_eq!(line.payloads().await, ["a", "ready", "not leased", "new"]);
    assert_eq!(line.find(a).await.and_then(|item| item.lease_deadline), Some(at(99)));
}

/// A pick that is not ready is left out, whatever else the turn does.
pub async fn turn_leaves_out_what_is_not_ready<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let (held, scheduled) = (line.leased("held").await, line.scheduled("scheduled", 5).await);
    let ready = line.produced(&["ready"]).await[0];
    let (unknown, item) = (line.id(), line.item("new"));
    let picks = [pick(held), pick(ready), pick(scheduled), pick(unknown)];
    let turn = Turn { items: std::slice::from_ref(&item), picks: &picks, ..Turn::default() };
    let (_, leased, _) = done(line.owner.turn(&turn).await);
    assert_eq!(leased.iter().map(|item| item.id).collect::<Vec<_>>(), [ready]);
    let picks = [pick(held), pick(scheduled)];
    let other = line.item("other");
    let turn = Turn { items: std::slice::from_ref(&other), picks: &picks, ..Turn::default() };
    let (placements, leased, _) = done(line.owner.turn(&turn).await);
    assert_eq!((placements, leased.len()), (vec![Placement::Placed], 0));
    assert_eq!(line.find(held).await.expect("still here").attempts, 1);
}

/// Produced items may be leased already, wait for their time, or come from elsewhere.
pub async fn items_of_a_turn_are_stored_as_they_are<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let held = line.leased("held").await;
    let known = Item { source_id: Some("s".to_owned()), ..line.item("known") };
    line.place(known.clone()).await;
    let mut items = [line.item("leased"), line.item("scheduled"), line.item("known again")];
    (items[0].is_leased, items[0].attempts, items[0].lease_deadline) = (true, 1, Some(at(9)));
    items[1].enqueue_at = Some(at(30));
    for (source_id, placement) in [(None, Placement::Placed), (Some("s"), Placement::Known(known.id))] {
        items[2].source_id = source_id.map(str::to_owned);
        let requests: [&[Change]; 1] = [&[Change::Extend { id: held, deadline: at(70) }]];
        let turn = Turn { items: &items, requests: &requests, ..Turn::default() };
        let (placements, _, verdicts) = done(line.owner.turn(&turn).await);
        assert_eq!(placements, [Placement::Placed, Placement::Placed, placement]);
        assert_eq!(verdicts, [Verdict::Done]);
        assert_eq!(line.find(items[0].id).await.as_ref(), Some(&items[0]));
        assert_eq!(line.find(items[1].id).await.map(|item| item.state()), Some(ItemState::Scheduled));
        let deadlines = line.owner.deadlines().await.expect("deadlines");
        assert_eq!((deadlines.lease, deadlines.enqueue), (Some(at(9)), Some(at(30))));
        let ids: Vec<ItemId> = items.iter().map(|item| item.id).collect();
        line.owner.remove(&ids).await.expect("remove");
        items.iter_mut().for_each(|item| item.id = line.id());
    }
}

/// Whoever was the owner writes nothing of a turn.
pub async fn turn_of_an_earlier_owner_is_fenced<H: Harness>() {
    let mut line = Line::<H>::start().await;
    let held = line.leased("held").await;
    let ready = line.produced(&["ready"]).await[0];
    let item = line.item("refused");
    let mut second = line.store().partition(&Line::<H>::partition());
    second.open().await.expect("take over");
    let (picks, requests): (_, [&[Change]; 1]) = ([pick(ready)], [&[Change::Complete { id: held }]]);
    let turn = Turn { items: std::slice::from_ref(&item), picks: &picks, requests: &requests };
    for turn in [turn, Turn { items: &[], ..turn }, Turn { requests: &[], ..turn }] {
        let turned = line.owner.turn(&turn).await;
        assert!(matches!(turned.error, Some(StoreError::Fenced { .. })), "{turned:?}");
        assert!(turned.verdicts.is_none() || turn.requests.is_empty(), "{turned:?}");
    }
    let items = second.list(false, ItemId::MIN, 9).await.expect("list");
    assert_eq!(items.iter().map(|item| item.id).collect::<Vec<_>>(), [held, ready]);
    assert!(!items[1].is_leased);
}
