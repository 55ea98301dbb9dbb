//! How large a ready item is told before it is leased, so that answers can be kept short.

use bytes::Bytes;

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{Change, Placement, Verdict};
use crate::{Item, ItemId};

/// An item of so many bytes, most of them payload. Its texts are longer than they look.
fn item(line: &mut Line, bytes: usize) -> Item {
    let (reference, kind) = ("größe".to_owned(), "κ".to_owned());
    let encoding = String::new();
    let payload = Bytes::from(vec![7; bytes - reference.len() - kind.len()]);
    Item { reference, encoding, kind, payload, ..line.item("") }
}

async fn placed(line: &mut Line, bytes: usize) -> ItemId {
    let item = item(line, bytes);
    line.place(item).await
}

async fn leased(line: &mut Line, bytes: usize) -> ItemId {
    let item = Item { is_leased: true, lease_deadline: Some(at(60)), attempts: 1, ..item(line, bytes) };
    line.place(item).await
}

/// Produced alone or in a batch, imported or not, and nothing at all.
pub async fn size_is_that_of_payload_and_texts(start: Start) {
    let mut line = Line::start(start).await;
    let nothing =
        Item { reference: String::new(), encoding: String::new(), kind: String::new(), ..line.item("") };
    let nothing = line.place(nothing).await;
    let batch = [item(&mut line, 9), item(&mut line, 300_000)];
    assert_eq!(line.owner.produce(&batch).await.expect("produce"), [Placement::Placed; 2]);
    let imported = Item { source_id: Some("elsewhere".to_owned()), ..item(&mut line, 50) };
    let imported = line.place(imported).await;
    let expected = [(nothing, 0), (batch[0].id, 9), (batch[1].id, 300_000), (imported, 50)];
    assert_eq!(line.sizes().await, expected);
    assert_eq!(line.owner.open().await.expect("open").counts.ready, 4);
    assert_eq!(line.sizes().await, expected, "also when it is looked up");
}

/// Returned, reclaimed, or come to its time.
pub async fn size_stays_when_an_item_moves(start: Start) {
    let mut line = Line::start(start).await;
    let returned = leased(&mut line, 11).await;
    let reclaimed = leased(&mut line, 12).await;
    let postponed = leased(&mut line, 13).await;
    let scheduled = Item { enqueue_at: Some(at(5)), ..item(&mut line, 14) };
    let scheduled = line.place(scheduled).await;
    assert_eq!(line.sizes().await, []);
    let new_ids = [line.id(), line.id(), line.id(), line.id()];
    let changes =
        [Change::Return { id: returned, new_id: new_ids[0] }, Change::Schedule { id: postponed, at: at(9) }];
    assert_eq!(line.change(&changes).await, Verdict::Done);
    let moves = [(reclaimed, new_ids[1]), (postponed, new_ids[2]), (scheduled, new_ids[3])];
    assert_eq!(line.owner.requeue(&moves).await.expect("requeue"), new_ids[1..]);
    let expected: Vec<_> = new_ids.into_iter().zip(11..).collect();
    assert_eq!(line.sizes().await, expected);
    line.owner.open().await.expect("open");
    assert_eq!(line.sizes().await, expected);
}

/// Whoever takes over finds the same.
pub async fn size_is_known_to_the_next_owner(start: Start) {
    let mut line = Line::start(start).await;
    let ids = [placed(&mut line, 10).await, placed(&mut line, 20_000).await];
    let mut second = line.store().partition(&Line::partition());
    second.open().await.expect("take over");
    line.owner = second;
    assert_eq!(line.sizes().await, [(ids[0], 10), (ids[1], 20_000)]);
    let last = placed(&mut line, 30).await;
    assert_eq!(line.sizes().await.last(), Some(&(last, 30)));
}

/// What a file or a table holds is enough to tell.
pub async fn size_is_known_after_a_restart(start: Start) {
    let mut line = Line::start(start).await;
    let (a, b) = (placed(&mut line, 10).await, leased(&mut line, 70_000).await);
    let new_id = line.id();
    line.owner.requeue(&[(b, new_id)]).await.expect("requeue");
    let Line { harness, mut owner, .. } = line;
    owner.close().await;
    drop(owner);
    let mut line = Line::over(harness.restart().await).await;
    let expected = if line.harness.is_durable() { vec![(a, 10), (new_id, 70_000)] } else { Vec::new() };
    assert_eq!(line.sizes().await, expected);
}
