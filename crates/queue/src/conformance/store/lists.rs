//! Lists and figures.

use std::time::Duration;

use super::line::{Line, at};
use crate::conformance::Start;
use crate::store::{Counts, ItemHeader, Pick};
use crate::{Item, ItemId};

/// Inclusive, or from the next one if the pivot is not stored.
pub async fn list_starts_at_the_pivot(start: Start) {
    let mut line = Line::start(start).await;
    let ids = line.produced(&["a", "b", "c", "d"]).await;
    line.owner.lease(&[Pick { id: ids[2], deadline: at(60) }]).await.expect("lease");
    line.owner.remove(&[ids[1]]).await.expect("remove");
    for (pivot, limit, expected) in [
        (ItemId::MIN, 100, vec![ids[0], ids[2], ids[3]]),
        (ids[1], 100, vec![ids[2], ids[3]]),
        (ids[2], 1, vec![ids[2]]),
        (ids[3].successor(), 100, vec![]),
        (ItemId::MIN, 0, vec![]),
    ] {
        let listed = line.owner.list(false, pivot, limit, usize::MAX).await.expect("list").items;
        assert_eq!(listed.iter().map(|item| item.id).collect::<Vec<_>>(), expected);
    }
}

/// With the item that has the last of the bytes, and the next page goes on behind it; nothing is left out.
pub async fn page_of_a_list_ends_at_so_many_items_or_bytes(start: Start) {
    let mut line = Line::start(start).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(line.produced(&["x".repeat(100).as_str()]).await[0]);
        line.scheduled("behind", 30).await;
    }
    // Beside the payload there are texts, a little longer than it.
    for (limit, bytes, lens) in [
        (2, usize::MAX, vec![2, 2, 1]),
        (5, usize::MAX, vec![5]),
        (9, 1, vec![1; 5]),
        (9, 300, vec![2, 2, 1]),
        (9, 600, vec![3, 2]),
    ] {
        let (mut pivot, mut pages, mut listed) = (Some(ItemId::MIN), Vec::new(), Vec::new());
        while let Some(from) = pivot {
            let page = line.owner.list(false, from, limit, bytes).await.expect("list");
            pivot = page.next;
            if !page.items.is_empty() {
                pages.push(page.items.len());
            }
            listed.extend(page.items.into_iter().map(|item| item.id));
        }
        assert_eq!((pages, &listed), (lens, &ids), "at most {limit} items and {bytes} bytes");
    }
}

/// In order of ids, not of their times.
pub async fn scheduled_items_have_their_own_list(start: Start) {
    let mut line = Line::start(start).await;
    let ready = line.produced(&["ready"]).await[0];
    let late = line.scheduled("late", 30).await;
    let early = line.scheduled("early", 10).await;
    let ids = |items: Vec<Item>| items.into_iter().map(|item| item.id).collect::<Vec<_>>();
    assert_eq!(
        ids(line.owner.list(true, ItemId::MIN, 9, usize::MAX).await.expect("list").items),
        [late, early]
    );
    assert_eq!(ids(line.owner.list(true, early, 9, usize::MAX).await.expect("list").items), [early]);
    assert_eq!(ids(line.owner.list(false, ItemId::MIN, 9, usize::MAX).await.expect("list").items), [ready]);
}

/// In the order asked, without those that are not here.
pub async fn headers_are_those_of_the_items(start: Start) {
    let mut line = Line::start(start).await;
    let ready = line.produced(&["ready"]).await[0];
    let scheduled = line.scheduled("scheduled", 30).await;
    let leased = line.leased("leased").await;
    let asked = [leased, line.id(), scheduled, ready];
    let items = line.owner.fetch(&asked).await.expect("fetch");
    let of = |item: &Item| ItemHeader {
        id: item.id,
        state: item.state(),
        lease_deadline: item.lease_deadline,
        expire_deadline: item.expire_deadline,
        enqueue_at: item.enqueue_at,
        created_at: item.created_at,
        attempts: item.attempts,
    };
    let headers = line.owner.headers(&asked).await.expect("headers");
    assert_eq!(headers, items.iter().map(of).collect::<Vec<_>>());
    assert_eq!(headers.iter().map(|header| header.id).collect::<Vec<_>>(), [leased, scheduled, ready]);
}

/// Means over what they are about, zero over nothing.
pub async fn counts_and_ages_are_true(start: Start) {
    let mut line = Line::start(start).await;
    let empty = line.owner.stats(at(1)).await.expect("stats");
    assert_eq!(empty, crate::store::StoreStats::default());
    let old = line.produced(&["old"]).await[0];
    let young = Item { created_at: at(10), ..line.item("young") };
    let young = line.place(young).await;
    let scheduled = Item { created_at: at(5), enqueue_at: Some(at(50)), ..line.item("scheduled") };
    line.place(scheduled).await;
    let picks = [Pick { id: old, deadline: at(40) }];
    line.owner.lease(&picks).await.expect("lease");
    let stats = line.owner.stats(at(20)).await.expect("stats");
    assert_eq!(stats.counts, Counts { ready: 1, leased: 1, scheduled: 1 });
    assert_eq!(stats.average_age, Duration::from_secs(15));
    assert_eq!(stats.average_lease_left, Duration::from_secs(20));
    assert_eq!(stats.oldest_ready_at, Some(at(10)));
    line.owner.remove(&[young]).await.expect("remove");
    assert_eq!(line.owner.stats(at(20)).await.expect("stats").oldest_ready_at, None);
}
