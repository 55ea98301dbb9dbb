//! An answer of success means durable.

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{Change, DueAction};
use crate::{Item, ItemId};

/// Items, leases, schedules, marks, and the largest id.
pub async fn everything_acknowledged_is_there_after_a_restart(start: Start) {
    let mut line = Line::start(start).await;
    let done = line.leased("done").await;
    let held = line.leased("held").await;
    let returned = line.leased("returned").await;
    let dying = line.leased("dying").await;
    let scheduled = line.scheduled("scheduled", 20).await;
    line.produced(&["ready"]).await;
    let new_id = line.id();
    let changes = [
        Change::Complete { id: done },
        Change::Return { id: returned, new_id },
        Change::Expire { id: dying, at: at(1) },
        Change::Extend { id: held, deadline: at(90) },
    ];
    line.change(&changes).await;
    let before = everything(&mut line).await;
    assert_eq!((before.0.len(), before.1.len()), (4, 1));

    let Line { harness, mut owner, .. } = line;
    owner.close().await;
    drop(owner);
    let mut line = Line::over(harness.restart().await).await;
    if !line.harness.is_durable() {
        assert_eq!(line.payloads().await, [""; 0], "nothing half-remembered");
        return;
    }
    assert_eq!(everything(&mut line).await, before);
    assert_eq!(line.due(at(50)).await, [(dying, DueAction::Die), (scheduled, DueAction::Enqueue)]);
    assert!(line.id() > new_id, "ids go on above what is stored");
}

async fn everything(line: &mut Line) -> (Vec<Item>, Vec<Item>) {
    let here = line.owner.list(false, ItemId::MIN, 99, usize::MAX).await.expect("list").items;
    (here, line.owner.list(true, ItemId::MIN, 99, usize::MAX).await.expect("list").items)
}
