//! Queues by type and name: ids that are never given twice, whatever is deleted.

use std::collections::BTreeSet;

use leasehold_persistence::{Blob, Error, Message, NamedQueueKey, NamedQueues, PageSize, PageToken};

use crate::fixture::{Dice, Fixture, all_pages, read_beside_writers, together};

macro_rules! named_queue_cases {
    ($target:ident) => {
        $target!(
            named_queue:
            queue_is_made_once,
            queue_that_was_not_made_is_not_found,
            ids_of_ten_times_ten_messages_have_no_hole,
            ids_of_any_messages_at_once_have_no_hole,
            messages_are_read_in_pages,
            deleted_messages_are_gone_for_every_reader,
            ids_go_on_when_everything_was_deleted,
            more_messages_than_a_transaction_takes_are_deleted,
            deleters_at_once_delete_each_message_once,
            metadata_that_is_not_understood_is_left_alone,
            lists_have_every_queue_of_a_type_once,
            random_operations_agree_with_a_model,
            every_message_is_read_while_those_before_it_are_deleted,
            ids_go_on_when_even_the_last_row_is_gone,
        );
    };
}

fn store(fixture: &Fixture) -> NamedQueues {
    NamedQueues::new(fixture.database.clone())
}

fn key(name: &str) -> NamedQueueKey {
    NamedQueueKey::new(2, name).expect("a key")
}

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

async fn made(fixture: &Fixture, name: &str, messages: u8) -> NamedQueueKey {
    let key = key(name);
    store(fixture).create(&key).await.expect("a queue");
    for data in 0..messages {
        assert_eq!(store(fixture).enqueue(&key, &blob(data)).await.expect("an id"), i64::from(data));
    }
    key
}

async fn ids(fixture: &Fixture, key: &NamedQueueKey, size: usize) -> Vec<i64> {
    let (queues, key) = (&store(fixture), &key);
    let read = all_pages(size, |size, token| async move {
        queues.read(key, size, token.as_ref()).await.expect("a page")
    })
    .await;
    read.iter().map(|message| message.id).collect()
}

async fn count(fixture: &Fixture, key: &NamedQueueKey) -> i64 {
    let listed = store(fixture).list(key.queue_type(), PageSize::MAX, None).await.expect("queues").items;
    listed.iter().find(|queue| queue.key == *key).expect("the queue").message_count
}

pub(crate) async fn queue_is_made_once(fixture: &Fixture) {
    let makers = (0..8).map(|_| {
        let queues = store(fixture);
        async move { queues.create(&key("orders")).await }
    });
    let mut won = 0;
    for made in together(makers).await {
        match made {
            Ok(()) => won += 1,
            Err(Error::QueueAlreadyExists { queue_type: 2 }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(won, 1);
    let other = NamedQueueKey::new(1, "orders").expect("a key");
    store(fixture).create(&other).await.expect("another type is another queue");
}

pub(crate) async fn queue_that_was_not_made_is_not_found(fixture: &Fixture) {
    let (queues, key) = (store(fixture), key("orders"));
    for error in [
        queues.enqueue(&key, &blob(1)).await.expect_err("not made"),
        queues.read(&key, PageSize::MAX, None).await.expect_err("not made"),
        queues.delete_range(&key, 1).await.expect_err("not made"),
    ] {
        assert!(matches!(error, Error::QueueNotFound { queue_type: 2 }), "{error:?}");
    }
    assert_eq!(queues.list(2, PageSize::MAX, None).await.expect("no queues").items, []);
}

/// Property 4: concurrency safety.
pub(crate) async fn ids_of_ten_times_ten_messages_have_no_hole(fixture: &Fixture) {
    let orders = made(fixture, "orders", 0).await;
    let enqueuers = (0..10_u8).map(|enqueuer| {
        let (queues, orders) = (store(fixture), orders.clone());
        async move {
            let mut given = Vec::new();
            for _ in 0..10 {
                given.push(queues.enqueue(&orders, &blob(enqueuer)).await.expect("an id"));
            }
            given
        }
    });
    let all: BTreeSet<i64> = together(enqueuers).await.into_iter().flatten().collect();
    assert_eq!(all, (0..100).collect());
    assert_eq!(ids(fixture, &orders, 1_000).await, (0..100).collect::<Vec<_>>());
}

/// Property 4: concurrency safety. In each round several add messages to a queue of their own, the first of it among them.
pub(crate) async fn ids_of_any_messages_at_once_have_no_hole(fixture: &Fixture) {
    let watched = fixture.watched().await;
    let queues = NamedQueues::new(watched.database.clone());
    for seed in fixture.rounds() {
        let (mut dice, orders) = (Dice(seed), key(&format!("orders {seed}")));
        queues.create(&orders).await.expect("a queue");
        let enqueuers = (0..dice.between(2..=4)).map(|_| {
            let (queues, orders, messages) = (queues.clone(), orders.clone(), dice.between(1..=3));
            dice.late(async move {
                let mut given = Vec::new();
                for _ in 0..messages {
                    given.push(queues.enqueue(&orders, &blob(1)).await.expect("an id"));
                }
                given
            })
        });
        let mut given = together(enqueuers.collect::<Vec<_>>()).await.concat();
        given.sort_unstable();
        assert_eq!(given, (0..).take(given.len()).collect::<Vec<i64>>(), "seed {seed}");
        assert_eq!(ids(fixture, &orders, 100).await, given, "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

pub(crate) async fn messages_are_read_in_pages(fixture: &Fixture) {
    let orders = made(fixture, "orders", 10).await;
    made(fixture, "billing", 3).await;
    for size in 1..=11 {
        assert_eq!(ids(fixture, &orders, size).await, (0..10).collect::<Vec<_>>(), "pages of {size}");
    }
    let page = store(fixture).read(&orders, PageSize::MAX, None).await.expect("a page");
    assert_eq!(page.items[7], Message { id: 7, blob: blob(7) });
    for bytes in [vec![], vec![1; 7]] {
        let token = PageToken::from_bytes(bytes);
        let error = store(fixture).read(&orders, PageSize::MAX, Some(&token)).await.expect_err("a bad token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

pub(crate) async fn deleted_messages_are_gone_for_every_reader(fixture: &Fixture) {
    let (queues, orders) = (store(fixture), made(fixture, "orders", 10).await);
    let early = queues.read(&orders, PageSize::new(2).expect("a size"), None).await.expect("a page").next;
    for (last, deleted, left) in
        [(3, 4, 4..10), (3, 0, 4..10), (0, 0, 4..10), (7, 4, 8..10), (100, 2, 10..10)]
    {
        assert_eq!(queues.delete_range(&orders, last).await.expect("a deletion"), deleted, "through {last}");
        assert_eq!(ids(fixture, &orders, 3).await, left.clone().collect::<Vec<_>>(), "through {last}");
        assert_eq!(count(fixture, &orders).await, left.end - left.start);
        let late = queues.read(&orders, PageSize::MAX, early.as_ref()).await.expect("a page");
        assert_eq!(late.items.len(), left.count(), "a token from before shows nothing that was deleted");
    }
    let error = queues.delete_range(&orders, -1).await.expect_err("below the first");
    assert!(matches!(error, Error::InvalidRequest { field: "last", .. }), "{error:?}");
}

/// The last message stays in its table, which is how the next id is known.
pub(crate) async fn ids_go_on_when_everything_was_deleted(fixture: &Fixture) {
    let (queues, orders) = (store(fixture), made(fixture, "orders", 3).await);
    for id in 3..6 {
        assert!(queues.delete_range(&orders, i64::MAX).await.expect("a deletion") > 0);
        assert_eq!(queues.enqueue(&orders, &blob(1)).await.expect("an id"), id);
        assert_eq!(ids(fixture, &orders, 10).await, [id]);
    }
    let rows = "SELECT count(*) FROM queue_messages";
    let rows: i64 = fixture.outside().await.query_one(rows, &[]).await.expect("a count").get(0);
    assert_eq!(rows, 2, "what stayed for its id goes with the next deletion");
}

pub(crate) async fn more_messages_than_a_transaction_takes_are_deleted(fixture: &Fixture) {
    let (queues, orders) = (store(fixture), made(fixture, "orders", 0).await);
    let insert = "INSERT INTO queue_messages
                  SELECT 2, 'orders', 0, id, '\\x01', 'Proto3' FROM generate_series(0, 3099) AS id";
    fixture.outside().await.batch_execute(insert).await.expect("messages");
    assert_eq!(queues.delete_range(&orders, 3_049).await.expect("a deletion"), 3_050);
    assert_eq!(ids(fixture, &orders, 1_000).await, (3_050..3_100).collect::<Vec<_>>());
    assert_eq!(count(fixture, &orders).await, 50);
}

/// Property 2: conditional atomicity. The metadata has no version; its row is what they meet on.
pub(crate) async fn deleters_at_once_delete_each_message_once(fixture: &Fixture) {
    let orders = made(fixture, "orders", 20).await;
    let deleters = (0..10_i64).map(|deleter| {
        let (queues, orders) = (store(fixture), orders.clone());
        async move {
            queues.delete_range(&orders, deleter * 2 - 1 + i64::from(deleter == 0)).await.expect("a deletion")
        }
    });
    let deleted: u64 = together(deleters).await.iter().sum();
    assert_eq!(deleted, 18);
    assert_eq!(ids(fixture, &orders, 7).await, [18, 19]);
}

pub(crate) async fn metadata_that_is_not_understood_is_left_alone(fixture: &Fixture) {
    let (queues, orders) = (store(fixture), made(fixture, "orders", 3).await);
    let outside = fixture.outside().await;
    for change in [
        "metadata_encoding = 'Json'",
        "metadata_encoding = 'Proto3', metadata_payload = '\\x0a0208000a020801'",
    ] {
        outside.batch_execute(&format!("UPDATE queues SET {change}")).await.expect("a change");
        for error in [
            queues.delete_range(&orders, 1).await.expect_err("corrupt"),
            queues.read(&orders, PageSize::MAX, None).await.expect_err("corrupt"),
            queues.list(2, PageSize::MAX, None).await.expect_err("corrupt"),
        ] {
            assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
        }
    }
    let rows: i64 =
        outside.query_one("SELECT count(*) FROM queue_messages", &[]).await.expect("a count").get(0);
    assert_eq!(rows, 3);
}

pub(crate) async fn lists_have_every_queue_of_a_type_once(fixture: &Fixture) {
    let queues = &store(fixture);
    let names = ["a", "aa", "b", "c d", "e_f", "g"];
    for (messages, name) in (0..).zip(names) {
        made(fixture, name, messages).await;
    }
    let other = NamedQueueKey::new(1, "b").expect("a key");
    queues.create(&other).await.expect("a queue");
    for size in 1..=7 {
        let listed = all_pages(size, |size, token| async move {
            queues.list(2, size, token.as_ref()).await.expect("a page")
        })
        .await;
        let names_listed: BTreeSet<_> = listed.iter().map(|queue| queue.key.name()).collect();
        assert_eq!(names_listed, names.into_iter().collect(), "pages of {size}");
        assert_eq!(listed.len(), names.len(), "pages of {size}");
        assert!((0..).zip(names).all(|(count, name)| listed.iter().any(|queue| queue.key.name() == name
            && queue.message_count == count
            && queue.min_message_id == 0)));
    }
}

/// The whole of a queue as it must be: what was added, and below what it was deleted.
pub(crate) async fn random_operations_agree_with_a_model(fixture: &Fixture) {
    let queues = store(fixture);
    for seed in 0..4 {
        let (mut dice, orders) = (Dice(seed), made(fixture, &format!("orders {seed}"), 0).await);
        let (mut added, mut min) = (0_i64, 0_i64);
        for _ in 0..30 {
            match dice.roll(3) {
                0 | 1 => {
                    assert_eq!(queues.enqueue(&orders, &blob(1)).await.expect("an id"), added);
                    added += 1;
                }
                _ => {
                    let last = dice.between(0..=added + 1);
                    let new_min = if added == 0 { 0 } else { min.max(last.min(added - 1) + 1) };
                    let deleted = queues.delete_range(&orders, last).await.expect("a deletion");
                    assert_eq!(deleted, (new_min - min).unsigned_abs(), "seed {seed}");
                    min = new_min;
                }
            }
            let size = usize::try_from(dice.between(1..=5)).expect("a size");
            assert_eq!(ids(fixture, &orders, size).await, (min..added).collect::<Vec<_>>(), "seed {seed}");
            assert_eq!(count(fixture, &orders).await, added - min, "seed {seed}");
        }
    }
}

/// Property 4: concurrency safety. A reader deletes what it has read; all that was added comes to it, once, in order.
pub(crate) async fn every_message_is_read_while_those_before_it_are_deleted(fixture: &Fixture) {
    let each = if fixture.is_dsql() { 6 } else { 30 };
    let (queues, orders) = (&store(fixture), &made(fixture, "orders", 0).await);
    let writer = (queues.clone(), orders.clone());
    let write = move |message| {
        let (queues, orders) = writer.clone();
        async move { queues.enqueue(&orders, &blob(message)).await.expect("an id") }
    };
    let read = async || {
        let size = PageSize::new(3).expect("a size");
        let messages = queues.read(orders, size, None).await.expect("messages").items;
        if let Some(newest) = messages.last() {
            let deleted = queues.delete_range(orders, newest.id).await.expect("a deletion");
            assert_eq!(deleted, messages.len() as u64, "nobody else deletes");
        }
        messages.iter().map(|message| (message.id, message.blob.data()[0])).collect()
    };
    read_beside_writers(each, write, read).await;
}

/// Somebody tidied up by hand: the minimum still says how far the ids were.
pub(crate) async fn ids_go_on_when_even_the_last_row_is_gone(fixture: &Fixture) {
    let (queues, orders) = (store(fixture), made(fixture, "orders", 3).await);
    queues.delete_range(&orders, 2).await.expect("a deletion");
    fixture.outside().await.batch_execute("DELETE FROM queue_messages").await.expect("a deletion");
    assert_eq!(queues.enqueue(&orders, &blob(1)).await.expect("an id"), 3);
    assert_eq!(ids(fixture, &orders, 10).await, [3]);
}
