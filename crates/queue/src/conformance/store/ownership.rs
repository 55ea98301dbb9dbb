//! A partition has one owner; whoever was it before writes nothing.

use std::collections::HashSet;

use super::line::{Line, START, at, limit};
use crate::conformance::Start;
use crate::store::{Change, Counts, Deadlines, Dropped, LastOwner, PartitionId, Pick, StoreError};
use crate::{Item, ItemId, ItemIds};

fn fenced<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::Fenced { .. })), "{answer:?}");
}

/// Every write of the first is refused and changes nothing.
pub async fn second_owner_fences_the_first(start: Start) {
    let mut line = Line::start(start).await;
    let held = line.leased("held").await;
    let ready = line.produced(&["ready"]).await[0];
    let (item, new_id) = (line.item("refused"), line.id());
    let mut second = line.store().partition(&Line::partition());
    let opened = second.open().await.expect("take over");
    assert_eq!(opened.counts, Counts { ready: 1, leased: 1, scheduled: 0 });

    let first = &mut line.owner;
    fenced(first.produce(&[item]).await);
    fenced(first.lease(&[Pick { id: ready, deadline: at(9) }]).await);
    fenced(first.change(&[&[Change::Complete { id: held }]]).await);
    fenced(first.change(&[&[Change::Return { id: held, new_id }]]).await);
    fenced(first.change(&[&[Change::Extend { id: held, deadline: at(99) }]]).await);
    fenced(first.requeue(&[(held, new_id)]).await);
    fenced(first.remove(&[held]).await);
    fenced(first.clear(true, true, true, ItemId::MIN).await);

    let items = second.list(false, ItemId::MIN, 9, usize::MAX).await.expect("list").items;
    assert_eq!(items.iter().map(|item| item.id).collect::<Vec<_>>(), [held, ready]);
    assert_eq!(items[0].lease_deadline, Some(at(60)));
    second.change(&[&[Change::Complete { id: held }]]).await.expect("the owner writes");
}

/// After an answer was lost, or on the operator's wish.
pub async fn owner_may_open_again(start: Start) {
    let mut line = Line::start(start).await;
    let ids = line.produced(&["a", "b"]).await;
    assert_eq!(line.ready().await, ids);
    let opened = line.owner.open().await.expect("open again");
    assert_eq!((opened.counts.ready, opened.id_max), (2, Some(ids[1])));
    assert_eq!(line.ready().await, ids);
    line.owner.remove(&ids).await.expect("still the owner");
}

/// Only an owner whom nobody replaced may settle by what it finds.
pub async fn open_tells_whether_another_was_the_owner_meanwhile(start: Start) {
    let mut line = Line::start(start).await;
    let id = line.produced(&["a"]).await[0];
    let mut second = line.store().partition(&Line::partition());
    assert!(line.owner.open().await.expect("open again").is_unbroken);
    assert!(line.owner.open().await.expect("and again").is_unbroken);
    assert!(!second.open().await.expect("take over").is_unbroken, "it never had it");
    fenced(line.owner.fetch(&[id]).await);
    fenced(line.owner.remove(&[id]).await);
    assert!(!line.owner.open().await.expect("take back").is_unbroken);
    assert!(line.owner.open().await.expect("open again").is_unbroken);
    line.store().drop_partition(&Line::partition()).await.expect("drop");
    assert!(!second.open().await.expect("open").is_unbroken);
}

/// What an owner does not hold any more it does not see either.
pub async fn ousted_owner_fetches_nothing(start: Start) {
    let mut line = Line::start(start).await;
    let ids = line.produced(&["a"]).await;
    let unknown = line.id();
    let mut second = line.store().partition(&Line::partition());
    second.open().await.expect("take over");
    fenced(line.owner.fetch(&[unknown]).await);
    fenced(line.owner.headers(&[unknown]).await);
    line.owner.open().await.expect("take back");
    second.open().await.expect("take over");
    fenced(line.owner.fetch(&ids).await);
    fenced(line.owner.headers(&ids).await);
    assert_eq!(second.fetch(&ids).await.expect("fetch").len(), 1);
}

/// A new queue of the same name starts with nothing.
pub async fn dropped_partition_fences_its_owner_and_is_empty_afterwards(start: Start) {
    let mut line = Line::start(start).await;
    line.produced(&["old"]).await;
    let item = line.item("late");
    let store = line.store();
    store.drop_partition(&Line::partition()).await.expect("drop");
    store.drop_partition(&Line::partition()).await.expect("a second drop is fine");
    fenced(line.owner.produce(std::slice::from_ref(&item)).await);
    let mut successor = store.partition(&Line::partition());
    let opened = successor.open().await.expect("open");
    assert_eq!((opened.counts, opened.id_max), (Counts::default(), None));
    fenced(line.owner.produce(&[item]).await);
    assert_eq!(successor.next_ready(limit(9), START).await.expect("next_ready"), []);
}

/// A left-over partition is dropped; one that somebody has taken since is not.
pub async fn leftover_is_dropped_unless_somebody_took_it(start: Start) {
    let mut line = Line::start(start).await;
    let (store, partition) = (line.store(), Line::partition());
    let other = PartitionId { number: 7, ..partition.clone() };
    let nobody = store.last_owner(&other).await.expect("look");
    assert_eq!(store.drop_leftover(&other, nobody).await.expect("drop"), Dropped::Whole, "nothing is left");
    line.produced(&["kept"]).await;
    let before = store.last_owner(&partition).await.expect("look");
    line.owner.open().await.expect("open again");
    assert_eq!(store.drop_leftover(&partition, before).await.expect("drop"), Dropped::Taken);
    assert_eq!(store.drop_leftover(&partition, LastOwner(None)).await.expect("drop"), Dropped::Taken);
    assert_eq!(line.payloads().await, ["kept"]);
    let item = line.item("late");
    let last = store.last_owner(&partition).await.expect("look");
    assert_eq!(store.drop_leftover(&partition, last).await.expect("drop"), Dropped::Whole);
    fenced(line.owner.produce(&[item]).await);
    let mut successor = store.partition(&partition);
    assert_eq!(successor.open().await.expect("open").counts, Counts::default());
    assert_ne!(store.last_owner(&partition).await.expect("look"), before);
    assert_ne!(store.last_owner(&partition).await.expect("look"), last, "no owner comes twice");
}

/// Neither those of other numbers nor those of other queues.
pub async fn partitions_do_not_see_each_other(start: Start) {
    let mut line = Line::start(start).await;
    line.produced(&["mine"]).await;
    let base = Line::partition();
    for other in [
        PartitionId { number: 1, ..base.clone() },
        PartitionId { number: 10, ..base.clone() },
        PartitionId { queue: "orders-0".parse().expect("a name"), ..base.clone() },
        PartitionId { queue: "Orders".parse().expect("a name"), ..base.clone() },
        PartitionId { queue: "';DROP-TABLE/\"orders\"".parse().expect("a name"), ..base.clone() },
        PartitionId { queue: "x".repeat(512).parse().expect("a name"), ..base.clone() },
    ] {
        let mut owner = line.store().partition(&other);
        let opened = owner.open().await.expect("open");
        assert_eq!(opened.counts, Counts::default(), "{other:?}");
        let item = line.item("theirs");
        owner.produce(&[item]).await.expect("produce");
        assert_eq!(owner.open().await.expect("open").counts.ready, 1);
        line.store().drop_partition(&other).await.expect("drop");
    }
    assert_eq!(line.payloads().await, ["mine"]);
}

/// Counts, the largest id, the earliest deadlines.
pub async fn open_tells_what_is_there(start: Start) {
    let mut line = Line::start(start).await;
    line.leased("held").await;
    line.produced(&["ready", "ready too"]).await;
    let last = line.scheduled("scheduled", 20).await;
    let opened = line.owner.open().await.expect("open");
    assert_eq!(opened.counts, Counts { ready: 2, leased: 1, scheduled: 1 });
    assert_eq!(opened.id_max, Some(last));
    let expected = Deadlines { lease: Some(at(60)), expire: Some(at(3_600)), enqueue: Some(at(20)) };
    assert_eq!(opened.deadlines, expected);
}

/// An id is all that fences a lease: the next owner gives out none that was given out before, whatever it finds stored and
/// whatever the clock says, and its ids are above those that are stored.
pub async fn no_id_comes_twice_over_takeovers_and_steps_of_the_clock(start: Start) {
    let mut line = Line::start(start).await;
    let (mut given, mut stored) = (HashSet::new(), Vec::<ItemId>::new());
    // How far the clock is at a take-over, and how many of what is stored are left when the owner ends.
    for (seconds, kept) in [(9, 3), (9, 1), (5, 1), (5, 0), (0, 2), (0, 1), (7, 0), (7, 4), (8, 1), (2, 9)] {
        let opened = line.owner.open().await.expect("open");
        let mut ids = ItemIds::after(&opened, at(seconds)).expect("ids");
        let items: Vec<_> = (0..3).map(|_| Item { id: ids.next(), ..line.item("one") }).collect();
        let batch: Vec<_> = items.iter().map(|item| item.id).collect();
        assert!(batch.iter().all(|id| given.insert(*id)), "{batch:?} at {seconds}");
        assert!(batch.is_sorted() && stored.last() < batch.first(), "{batch:?} after {stored:?}");
        line.owner.produce(&items).await.expect("produce");
        stored.extend(batch);
        // What was produced last goes first, so that what is stored says least.
        let done = stored.split_off(kept.min(stored.len()));
        line.owner.remove(&done).await.expect("remove");
    }
}

/// Each the first of its partition, so epochs are as equal as the store makes them.
pub async fn partitions_give_out_different_ids_in_one_second(start: Start) {
    let line = Line::start(start).await;
    let mut given = HashSet::new();
    for number in 1..=8 {
        let partition = PartitionId { number, ..Line::partition() };
        let opened = line.store().partition(&partition).open().await.expect("open");
        let id = ItemIds::after(&opened, START).expect("ids").next();
        assert!(given.insert(id), "{id:?} came twice");
    }
}
