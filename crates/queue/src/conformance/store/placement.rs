//! Items are stored whole, in order, and once per source id.

use bytes::Bytes;
use leasehold_core::Timestamp;

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{Change, Placement, StoreError, Verdict, WriteMax};
use crate::{Item, ItemId};

/// Every field that is stored comes back.
pub async fn produced_item_reads_back_whole(start: Start) {
    let mut line = Line::start(start).await;
    let ready = line.item("ready");
    let imported = Item {
        source_id: Some("elsewhere".to_owned()),
        is_leased: true,
        lease_deadline: Some(at(7)),
        attempts: 3,
        max_attempts: 9,
        ..line.item("imported")
    };
    let unset = Item {
        expire_deadline: Timestamp::EPOCH,
        lease_deadline: Some(Timestamp::EPOCH),
        ..line.item("unset")
    };
    let scheduled =
        Item { enqueue_at: Some(Timestamp::from_micros(at(5).as_micros() + 1)), ..line.item("later") };
    let items = [ready, imported, unset, scheduled];
    assert_eq!(line.owner.produce(&items).await.expect("produce"), [Placement::Placed; 4]);
    let ids: Vec<_> = items.iter().map(|item| item.id).collect();
    assert_eq!(line.owner.fetch(&ids).await.expect("fetch"), items);
}

/// The order of ids is the order of the line.
pub async fn batch_is_placed_in_order_of_ids(start: Start) {
    let mut line = Line::start(start).await;
    let ids = line.produced(&["a", "b", "c"]).await;
    assert_eq!(line.ready().await, ids);
    assert_eq!(line.payloads().await, ["a", "b", "c"]);
}

/// A repeated move must not make a second item.
pub async fn known_source_id_is_left_out(start: Start) {
    let mut line = Line::start(start).await;
    let first = Item { source_id: Some("s1".to_owned()), ..line.item("first") };
    let first_id = line.place(first).await;
    let again = Item { source_id: Some("s1".to_owned()), ..line.item("again") };
    let other = Item { source_id: Some("s2".to_owned()), ..line.item("other") };
    let placements = line.owner.produce(&[again, other]).await.expect("produce");
    assert_eq!(placements, [Placement::Known(first_id), Placement::Placed]);
    assert_eq!(line.payloads().await, ["first", "other"]);
}

/// Within a batch the first counts.
pub async fn source_id_twice_in_a_batch_is_placed_once(start: Start) {
    let mut line = Line::start(start).await;
    let first = Item { source_id: Some("s1".to_owned()), ..line.item("first") };
    let again = Item { source_id: Some("s1".to_owned()), ..line.item("again") };
    let first_id = first.id;
    let placements = line.owner.produce(&[first, again]).await.expect("produce");
    assert_eq!(placements, [Placement::Placed, Placement::Known(first_id)]);
    assert_eq!(line.payloads().await, ["first"]);
}

/// The rule is about items that are here. A requeued item keeps its source id.
pub async fn source_id_is_free_again_when_its_item_is_gone(start: Start) {
    let mut line = Line::start(start).await;
    let sourced = |item: Item| Item {
        source_id: Some("s1".to_owned()),
        is_leased: true,
        lease_deadline: Some(at(60)),
        ..item
    };
    let first = sourced(line.item("first"));
    let id = line.place(first).await;
    let new_id = line.id();
    assert_eq!(line.owner.requeue(&[(id, new_id)]).await.expect("requeue"), [new_id]);
    let again = sourced(line.item("again"));
    assert_eq!(line.owner.produce(&[again]).await.expect("produce"), [Placement::Known(new_id)]);
    line.owner.remove(&[new_id]).await.expect("remove");
    let last = sourced(line.item("last"));
    let last_id = line.place(last).await;
    assert_eq!(line.change(&[Change::Complete { id: last_id }]).await, Verdict::Done);
    let after = sourced(line.item("after"));
    line.place(after).await;
    assert_eq!(line.payloads().await, ["after"]);
}

/// Sizes at the edges.
pub async fn largest_and_empty_payloads_are_kept(start: Start) {
    let mut line = Line::start(start).await;
    // An item is more than its payload.
    let large =
        Bytes::from(vec![0xa5; line.owner.write_max().item_bytes.saturating_sub(1 << 10).min(4 << 20)]);
    for payload in [Bytes::new(), Bytes::from_static(&[0, 0xff, b'\n', 0]), large] {
        let item = Item { payload: payload.clone(), ..line.item("") };
        let id = line.place(item).await;
        assert_eq!(line.find(id).await.expect("stored").payload, payload);
    }
}

/// What producers say is opaque.
pub async fn hostile_text_is_kept(start: Start) {
    let mut line = Line::start(start).await;
    for text in [
        "",
        "'; DROP TABLE items; --",
        "\"quoted\" {a,b} \\N \\",
        "héllo \u{1F512} \u{202e}",
        &"x".repeat(100_000),
    ] {
        let mut source_id = format!("source {text}");
        if source_id.len() > line.owner.write_max().source_id_bytes {
            source_id.truncate(line.owner.write_max().source_id_bytes);
        }
        let item = Item {
            source_id: Some(source_id),
            reference: text.to_owned(),
            encoding: text.to_owned(),
            kind: text.to_owned(),
            ..line.item("hostile")
        };
        let id = line.place(item.clone()).await;
        assert_eq!(line.find(id).await, Some(item));
    }
}

/// As an import does, in as many writes as the store needs.
pub async fn ten_thousand_items_are_placed_at_once(start: Start) {
    let mut line = Line::start(start).await;
    let items: Vec<_> = (0..10_000).map(|number| line.item(&number.to_string())).collect();
    for some in items.chunks(line.owner.write_max().items) {
        let placements = line.owner.produce(some).await.expect("produce");
        assert_eq!(placements.len(), some.len());
    }
    let listed = line.owner.list(false, ItemId::MIN, 20_000, usize::MAX).await.expect("list").items;
    assert!(listed == items, "the list of 10,000 items is what was placed");
}

/// What cannot be written as a whole is not written in part.
pub async fn batch_beyond_the_limits_is_refused_whole(start: Start) {
    let mut line = Line::start(start).await;
    let max = line.owner.write_max();
    if max == WriteMax::NONE {
        return;
    }
    let many: Vec<_> = (0..=max.items).map(|_| line.item("many")).collect();
    let large = Item { payload: Bytes::from(vec![0; max.item_bytes]), ..line.item("") };
    let part = Bytes::from(vec![0; max.item_bytes / 2]);
    let heavy: Vec<_> =
        (0..=max.bytes / part.len()).map(|_| Item { payload: part.clone(), ..line.item("") }).collect();
    let long = Item { source_id: Some("s".repeat(max.source_id_bytes + 1)), ..line.item("long") };
    for batch in [many.as_slice(), &[large], &heavy, &[long]] {
        let answer = line.owner.produce(batch).await;
        assert!(matches!(answer, Err(StoreError::TooLarge { .. })), "{answer:?}");
        assert_eq!(line.payloads().await, [""; 0]);
    }
    let changes: Vec<_> = many.iter().map(|item| Change::Complete { id: item.id }).collect();
    let answer = line.owner.change(&[&changes]).await;
    assert!(matches!(answer, Err(StoreError::TooLarge { .. })), "{answer:?}");
    for some in many.chunks(max.items) {
        line.owner.produce(some).await.expect("the owner still is the owner");
    }
}
