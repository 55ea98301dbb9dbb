//! The queue of namespace replication: ids without a hole, ack levels that are stored at their version, dead letters.

use std::collections::BTreeSet;

use leasehold_persistence::{AckLevels, Blob, Error, Message, PageSize, PageToken, Queue, QueueType};

use crate::fixture::{Dice, Fixture, all_pages, read_beside_writers, together};

macro_rules! queue_cases {
    ($target:ident) => {
        $target!(
            queue:
            messages_are_read_in_the_order_of_their_ids,
            ids_of_ten_times_ten_messages_have_no_hole,
            ids_of_any_messages_at_once_have_no_hole,
            ids_of_one_type_do_not_depend_on_another,
            dead_letters_count_for_themselves,
            messages_below_an_id_are_deleted,
            more_messages_than_a_transaction_takes_are_deleted,
            emptied_queue_begins_at_zero_again,
            emptied_dead_letters_go_on_above_their_ack_level,
            queue_that_was_not_made_takes_no_message,
            every_message_is_read_while_those_before_it_are_deleted,
            dead_letters_are_read_in_pages,
            dead_letters_are_deleted_one_by_one_and_by_range,
            ack_levels_are_missing_before_the_queue_is_made,
            queue_is_made_once_by_many,
            ack_levels_are_stored_at_their_version,
            ack_level_of_dead_letters_is_stored_twice,
            one_of_many_ack_levels_at_a_version_wins,
        );
    };
}

fn store(fixture: &Fixture) -> Queue {
    Queue::new(fixture.database.clone(), QueueType::NAMESPACE_REPLICATION)
}

/// [`store`], made, with ack levels that are the caller's own.
async fn made(fixture: &Fixture) -> Queue {
    let queue = store(fixture);
    queue.init(&blob(0)).await.expect("a queue");
    queue
}

fn blob(data: u8) -> Blob {
    Blob::proto3(vec![data])
}

/// Temporal's ack levels, of one cluster.
fn level(cluster: &str, level: u8) -> Blob {
    let len = u8::try_from(cluster.len()).expect("a short name");
    Blob::proto3([&[0x0a, len + 4, 0x0a, len], cluster.as_bytes(), &[0x10, level]].concat())
}

fn size(size: usize) -> PageSize {
    PageSize::new(size).expect("a size")
}

fn ids(messages: &[Message]) -> Vec<i64> {
    messages.iter().map(|message| message.id).collect()
}

async fn fill(fixture: &Fixture, queue_type: i32, count: i64) {
    let insert =
        "INSERT INTO queue SELECT $1, id, '\\x01', 'Proto3' FROM generate_series(0, $2::bigint - 1) AS id";
    fixture.outside().await.execute(insert, &[&queue_type, &count]).await.expect("messages");
}

pub(crate) async fn messages_are_read_in_the_order_of_their_ids(fixture: &Fixture) {
    let queue = made(fixture).await;
    assert_eq!(queue.read(-1, PageSize::MAX).await.expect("messages"), []);
    for data in 0..5_u8 {
        assert_eq!(queue.enqueue(&blob(data)).await.expect("an id"), i64::from(data));
    }
    let read = queue.read(-1, PageSize::MAX).await.expect("messages");
    let wanted: Vec<_> = (0..5_u8).map(|data| Message { id: data.into(), blob: blob(data) }).collect();
    assert_eq!(read, wanted);
    assert_eq!(queue.read(1, size(2)).await.expect("messages"), wanted[2..4]);
    assert_eq!(queue.read(4, size(2)).await.expect("messages"), []);
}

/// Property 4: concurrency safety. Not as upstream, where two first messages take the same id and one of them fails.
pub(crate) async fn ids_of_ten_times_ten_messages_have_no_hole(fixture: &Fixture) {
    made(fixture).await;
    let enqueuers = (0..10_u8).map(|enqueuer| {
        let queue = store(fixture);
        async move {
            let mut given = Vec::new();
            for message in 0..10 {
                given.push(queue.enqueue(&blob(enqueuer * 10 + message)).await.expect("an id"));
            }
            given
        }
    });
    let given = together(enqueuers).await;
    for own in &given {
        assert!(own.is_sorted_by(|one, next| one < next), "{own:?}");
    }
    let all: BTreeSet<i64> = given.iter().flatten().copied().collect();
    assert_eq!(all, (0..100).collect());
    let read = store(fixture).read(-1, PageSize::MAX).await.expect("messages");
    assert_eq!(ids(&read), (0..100).collect::<Vec<_>>());
    for (enqueuer, own) in (0..10_u8).zip(&given) {
        for (message, id) in (0..10_u8).zip(own) {
            let place = usize::try_from(*id).expect("an id");
            assert_eq!(read[place].blob, blob(enqueuer * 10 + message));
        }
    }
}

/// Property 4: concurrency safety. In each round several add messages to a queue of their own, the first of it among them.
pub(crate) async fn ids_of_any_messages_at_once_have_no_hole(fixture: &Fixture) {
    let watched = fixture.watched().await;
    for (seed, queue_type) in fixture.rounds().zip(1..) {
        let queue = Queue::new(watched.database.clone(), QueueType::new(queue_type).expect("a type"));
        queue.init(&blob(0)).await.expect("a queue");
        let mut dice = Dice(seed);
        let enqueuers = (0..dice.between(2..=4)).map(|_| {
            let (queue, messages) = (queue.clone(), dice.between(1..=3));
            dice.late(async move {
                let mut given = Vec::new();
                for _ in 0..messages {
                    given.push(queue.enqueue(&blob(1)).await.expect("an id"));
                }
                given
            })
        });
        let mut given = together(enqueuers.collect::<Vec<_>>()).await.concat();
        given.sort_unstable();
        assert_eq!(given, (0..).take(given.len()).collect::<Vec<i64>>(), "seed {seed}");
        assert_eq!(ids(&queue.read(-1, PageSize::MAX).await.expect("messages")), given, "seed {seed}");
    }
    watched.expect_only_conflicts_tried_again();
}

/// Not as upstream, whose statement forgets the type and leaves holes behind a queue that is ahead.
pub(crate) async fn ids_of_one_type_do_not_depend_on_another(fixture: &Fixture) {
    let other = Queue::new(fixture.database.clone(), QueueType::new(7).expect("a type"));
    other.init(&blob(0)).await.expect("a queue");
    made(fixture).await;
    for id in 0..3 {
        assert_eq!(other.enqueue(&blob(1)).await.expect("an id"), id);
    }
    assert_eq!(store(fixture).enqueue(&blob(2)).await.expect("an id"), 0);
    assert_eq!(other.enqueue(&blob(1)).await.expect("an id"), 3);
    assert_eq!(store(fixture).enqueue(&blob(2)).await.expect("an id"), 1);
}

pub(crate) async fn dead_letters_count_for_themselves(fixture: &Fixture) {
    let queue = made(fixture).await;
    for id in 0..3 {
        assert_eq!(queue.enqueue(&blob(1)).await.expect("an id"), id);
    }
    assert_eq!(queue.dead_letters().enqueue(&blob(9)).await.expect("an id"), 0);
    let dead = queue.dead_letters().read(-1, i64::MAX, PageSize::MAX, None).await.expect("dead letters");
    assert_eq!(dead.items, [Message { id: 0, blob: blob(9) }]);
    assert_eq!(ids(&queue.read(-1, PageSize::MAX).await.expect("messages")), [0, 1, 2]);
}

pub(crate) async fn messages_below_an_id_are_deleted(fixture: &Fixture) {
    let queue = made(fixture).await;
    for id in 0..5 {
        assert_eq!(queue.enqueue(&blob(1)).await.expect("an id"), id);
    }
    queue.dead_letters().enqueue(&blob(1)).await.expect("an id");
    for (before, left) in [(0, 0..5), (2, 2..5), (2, 2..5), (4, 4..5)] {
        queue.delete_before(before).await.expect("a deletion");
        let read = queue.read(-1, PageSize::MAX).await.expect("messages");
        assert_eq!(ids(&read), left.collect::<Vec<_>>(), "before {before}");
    }
    assert_eq!(queue.enqueue(&blob(1)).await.expect("an id"), 5, "the last one stays, and counts");
    let dead = queue.dead_letters().read(-1, i64::MAX, PageSize::MAX, None).await.expect("dead letters");
    assert_eq!(dead.items.len(), 1);
}

pub(crate) async fn more_messages_than_a_transaction_takes_are_deleted(fixture: &Fixture) {
    fill(fixture, 1, 3_100).await;
    fill(fixture, -1, 3_100).await;
    let queue = store(fixture);
    queue.delete_before(3_050).await.expect("a deletion");
    let read = queue.read(-1, PageSize::MAX).await.expect("messages");
    assert_eq!(ids(&read), (3_050..3_100).collect::<Vec<_>>());
    queue.dead_letters().delete_range(0, 3_098).await.expect("a deletion");
    let dead = queue.dead_letters().read(-1, i64::MAX, PageSize::MAX, None).await.expect("dead letters");
    assert_eq!(ids(&dead.items), [0, 3_099], "the first is not in the range");
}

/// A hazard that comes with the tables where no ack level is stored; whoever keeps ids of dead letters must know it.
pub(crate) async fn emptied_queue_begins_at_zero_again(fixture: &Fixture) {
    let dead = made(fixture).await.dead_letters();
    for id in 0..2 {
        assert_eq!(dead.enqueue(&blob(1)).await.expect("an id"), id);
    }
    dead.delete_range(-1, 1).await.expect("a deletion");
    assert_eq!(dead.enqueue(&blob(1)).await.expect("an id"), 0);
}

/// Not as upstream, which begins at 0 again and so below the ack level, where nobody reads.
pub(crate) async fn emptied_dead_letters_go_on_above_their_ack_level(fixture: &Fixture) {
    let queue = store(fixture);
    queue.init(&Blob::new(b"{}".to_vec(), "Json").expect("a blob")).await.expect("a queue");
    let dead = queue.dead_letters();
    for (version, last) in [(0, 1), (1, 3)] {
        for id in last - 1..=last {
            assert_eq!(dead.enqueue(&blob(1)).await.expect("an id"), i64::from(id));
        }
        let levels = AckLevels { blob: level("namespaceReplication", last), version };
        dead.update_ack_levels(&levels).await.expect("an update");
        dead.delete_range(-1, last.into()).await.expect("a deletion");
    }
    let json = Blob::new(br#"{"clusterAckLevels":{"namespaceReplication":"6"}}"#.to_vec(), "Json");
    let levels = AckLevels { blob: json.expect("a blob"), version: 2 };
    dead.update_ack_levels(&levels).await.expect("an update");
    assert_eq!(dead.enqueue(&blob(1)).await.expect("an id"), 7);
}

pub(crate) async fn queue_that_was_not_made_takes_no_message(fixture: &Fixture) {
    let queue = store(fixture);
    for error in [
        queue.enqueue(&blob(1)).await.expect_err("not made"),
        queue.dead_letters().enqueue(&blob(1)).await.expect_err("not made"),
    ] {
        assert!(matches!(error, Error::Missing { .. }), "{error:?}");
    }
}

/// Property 4: concurrency safety. A reader acknowledges what it has read and deletes what is below; all that was added comes
/// to it, once, in order.
pub(crate) async fn every_message_is_read_while_those_before_it_are_deleted(fixture: &Fixture) {
    let each = if fixture.is_dsql() { 6 } else { 30 };
    let queue = &store(fixture);
    queue.init(&Blob::proto3(vec![])).await.expect("a queue");
    let writer = queue.clone();
    let write = move |message| {
        let queue = writer.clone();
        async move { queue.enqueue(&blob(message)).await.expect("an id") }
    };
    let (mut last, mut version) = (-1, 0);
    let read = async || {
        let messages = queue.read(last, size(3)).await.expect("messages");
        if let Some(newest) = messages.last() {
            last = newest.id;
            let levels = level("eu", u8::try_from(last).expect("a small id"));
            let levels = AckLevels { blob: levels, version };
            queue.update_ack_levels(&levels).await.expect("an update");
            version += 1;
            queue.delete_before(last).await.expect("a deletion");
        }
        messages.iter().map(|message| (message.id, message.blob.data()[0])).collect()
    };
    read_beside_writers(each, write, read).await;
}

pub(crate) async fn dead_letters_are_read_in_pages(fixture: &Fixture) {
    fill(fixture, -1, 20).await;
    let dead = &store(fixture).dead_letters();
    for (first, last, wanted) in [(-1, i64::MAX, 0..20), (3, 16, 4..17), (19, 100, 0..0)] {
        for size in [1, 2, 3, 13, 20, 21] {
            let read = all_pages(size, |size, token| async move {
                dead.read(first, last, size, token.as_ref()).await.expect("a page")
            })
            .await;
            assert_eq!(ids(&read), wanted.clone().collect::<Vec<_>>(), "pages of {size}");
        }
    }
    let page = dead.read(-1, i64::MAX, size(5), None).await.expect("a page");
    assert_eq!(page.next.expect("a token").as_bytes(), [4, 0, 0, 0, 0, 0, 0, 0], "as upstream writes it");
    for bytes in [vec![], vec![1; 7], vec![1; 9]] {
        let token = PageToken::from_bytes(bytes);
        let error = dead.read(-1, 1, PageSize::MAX, Some(&token)).await.expect_err("a bad token");
        assert!(matches!(error, Error::InvalidRequest { field: "page_token", .. }), "{error:?}");
    }
}

pub(crate) async fn dead_letters_are_deleted_one_by_one_and_by_range(fixture: &Fixture) {
    fill(fixture, -1, 10).await;
    fill(fixture, 1, 10).await;
    let dead = store(fixture).dead_letters();
    for _ in 0..2 {
        dead.delete(4).await.expect("a deletion");
    }
    dead.delete_range(5, 8).await.expect("a deletion");
    let left = dead.read(-1, i64::MAX, PageSize::MAX, None).await.expect("dead letters");
    assert_eq!(ids(&left.items), [0, 1, 2, 3, 5, 9]);
    assert_eq!(store(fixture).read(-1, PageSize::MAX).await.expect("messages").len(), 10);
}

pub(crate) async fn ack_levels_are_missing_before_the_queue_is_made(fixture: &Fixture) {
    let queue = store(fixture);
    let levels = AckLevels { blob: blob(1), version: 0 };
    for error in [
        queue.ack_levels().await.expect_err("not made"),
        queue.dead_letters().ack_levels().await.expect_err("not made"),
    ] {
        assert!(matches!(error, Error::Missing { .. }), "{error:?}");
    }
    for error in [
        queue.update_ack_levels(&levels).await.expect_err("not made"),
        queue.dead_letters().update_ack_levels(&levels).await.expect_err("not made"),
    ] {
        assert!(matches!(error, Error::ConditionFailed { expected: Some(0), actual: None, .. }), "{error:?}");
    }
}

pub(crate) async fn queue_is_made_once_by_many(fixture: &Fixture) {
    let makers = (0..8_u8).map(|maker| {
        let queue = store(fixture);
        async move { queue.init(&blob(maker)).await }
    });
    for made in together(makers).await {
        made.expect("a queue");
    }
    let queue = store(fixture);
    let (own, dead) = (queue.ack_levels().await, queue.dead_letters().ack_levels().await);
    let (own, dead) = (own.expect("ack levels"), dead.expect("ack levels"));
    assert_eq!((own.version, dead.version), (0, 0));
    queue.init(&blob(99)).await.expect("a queue");
    assert_eq!(queue.ack_levels().await.expect("ack levels"), own);
}

/// Not as upstream, which reports a lost condition as unavailable, so that its caller's loop never reads again.
pub(crate) async fn ack_levels_are_stored_at_their_version(fixture: &Fixture) {
    let queue = store(fixture);
    queue.init(&blob(0)).await.expect("a queue");
    for version in 0..3 {
        let levels = AckLevels { blob: blob(7), version };
        queue.update_ack_levels(&levels).await.expect("an update");
        let stored = queue.ack_levels().await.expect("ack levels");
        assert_eq!(stored, AckLevels { version: version + 1, ..levels });
    }
    for version in [0, 2, 4] {
        let levels = AckLevels { blob: blob(9), version };
        let error = queue.update_ack_levels(&levels).await.expect_err("another version");
        assert!(
            matches!(error, Error::ConditionFailed { expected: Some(expected), actual: Some(3), .. } if expected == version),
            "{error:?}"
        );
    }
    assert_eq!(queue.ack_levels().await.expect("ack levels").blob, blob(7));
    assert_eq!(queue.dead_letters().ack_levels().await.expect("ack levels").version, 0);
}

/// Not as upstream, which always expects version 0 here, so that the second update can never succeed.
pub(crate) async fn ack_level_of_dead_letters_is_stored_twice(fixture: &Fixture) {
    let queue = store(fixture);
    queue.init(&blob(0)).await.expect("a queue");
    let dead = queue.dead_letters();
    for (version, data) in [(0, 1), (1, 2), (2, 3)] {
        dead.update_ack_levels(&AckLevels { blob: blob(data), version }).await.expect("an update");
        let stored = dead.ack_levels().await.expect("ack levels");
        assert_eq!(stored, AckLevels { blob: blob(data), version: version + 1 });
    }
    let error =
        dead.update_ack_levels(&AckLevels { blob: blob(9), version: 0 }).await.expect_err("version 0");
    assert!(matches!(error, Error::ConditionFailed { expected: Some(0), actual: Some(3), .. }), "{error:?}");
    assert_eq!(queue.ack_levels().await.expect("ack levels").version, 0);
}

/// Property 2: conditional atomicity.
pub(crate) async fn one_of_many_ack_levels_at_a_version_wins(fixture: &Fixture) {
    let queue = store(fixture);
    queue.init(&blob(0)).await.expect("a queue");
    for version in 0..5 {
        let writers = (0..6_u8).map(|writer| {
            let (queue, levels) = (queue.clone(), AckLevels { blob: blob(writer), version });
            async move { queue.update_ack_levels(&levels).await.map(|()| levels) }
        });
        let mut won = Vec::new();
        for answer in together(writers).await {
            match answer {
                Ok(levels) => won.push(levels),
                Err(Error::ConditionFailed { expected: Some(expected), actual: Some(actual), .. }) => {
                    assert_eq!((expected, actual), (version, version + 1));
                }
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(won.len(), 1, "{won:?}");
        let stored = queue.ack_levels().await.expect("ack levels");
        assert_eq!(stored, AckLevels { blob: won[0].blob.clone(), version: version + 1 });
    }
}
