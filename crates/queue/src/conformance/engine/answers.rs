//! Answers to leases are bounded in bytes: each of them, and all that are in memory at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::task::JoinHandle;

use super::dice::Dice;
use super::faulty::Fault;
use super::served::{HOUR, LATE, PATIENCE, SHORT, Served, lease_request, name, new_item, payloads, words};
use crate::store::Counts;
use crate::{CompleteRequest, Error, Item, Leased, NewItem, Result};

const OVERLOADED: &str = "queue is overloaded; try again later";

/// What an item of a case takes in an answer.
const ITEM_BYTES: usize = 3_000;

/// Items of that size, numbered in their payloads from `first` on.
fn items(first: usize, len: usize) -> Vec<NewItem> {
    (first..first + len).map(|number| item(number, ITEM_BYTES)).collect()
}

fn item(number: usize, bytes: usize) -> NewItem {
    new_item(&format!("{number:0>width$}", width = bytes - size_of::<Item>()))
}

fn numbers(leased: &Leased) -> Vec<usize> {
    payloads(&leased.items).iter().map(|payload| payload.parse().expect("a number")).collect()
}

/// A queue of so many items; three of them fit into an answer, and all answers together hold `answers` of them.
async fn filled(served: &mut Served, len: usize, answers: usize) {
    served
        .reconfigure(|config| {
            config.answer_bytes_max = 3 * ITEM_BYTES;
            config.answers_bytes_max = answers * ITEM_BYTES;
        })
        .await;
    served.create("jobs").await;
    if len > 0 {
        served.produce_items("jobs", items(0, len), PATIENCE).await.expect("produce");
    }
}

async fn counts(served: &Served) -> Counts {
    served.partition_stats("jobs").await.counts
}

/// A lease whose items the store is just leasing, until it is released.
async fn held_lease(served: &Served, batch_size: i64) -> JoinHandle<Result<Leased>> {
    served.faults.once("lease", Fault::Held);
    let (engine, request) = (served.engine.clone(), lease_request("jobs", "held", batch_size));
    let lease = tokio::spawn(async move { engine.lease(request).await });
    served.until(|| async { served.faults.take_calls("lease") == 1 }).await;
    lease
}

/// In order, and nothing is left out.
pub async fn answer_ends_at_so_many_bytes_and_the_next_goes_on(served: &mut Served) {
    filled(served, 8, 100).await;
    for expected in [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7]] {
        assert_eq!(numbers(&served.lease("jobs", 10).await), expected);
    }
    served.assert_nothing_to_lease("jobs").await;
    assert_eq!(counts(served).await, Counts { ready: 0, leased: 8, scheduled: 0 });
}

/// Alone, so that it can be leased at all; and in its turn.
pub async fn one_item_is_answered_however_large(served: &mut Served) {
    filled(served, 0, 100).await;
    let sizes = [500, 5 * ITEM_BYTES, 4 * ITEM_BYTES, 500, 500];
    let items = sizes.into_iter().enumerate().map(|(number, bytes)| item(number, bytes)).collect();
    served.produce_items("jobs", items, PATIENCE).await.expect("produce");
    for expected in [vec![0], vec![1], vec![2], vec![3, 4]] {
        assert_eq!(numbers(&served.lease("jobs", 10).await), expected);
    }
}

/// Those who wait share in rotation, each up to its limit; what nobody can take stays ready.
pub async fn produced_items_go_straight_to_waiting_leases_up_to_so_many_bytes(served: &mut Served) {
    filled(served, 0, 100).await;
    served.engine.pause(&name("jobs")).await.expect("pause");
    let waiting =
        [served.waiting_lease("jobs", "one", 10).await, served.waiting_lease("jobs", "two", 2).await];
    let engine = served.engine.clone();
    let request = crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: items(0, 8) };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    produce.await.expect("it ends").expect("produce");
    let mut got = Vec::new();
    for lease in waiting {
        got.push(numbers(&lease.await.expect("it ends").expect("items")));
    }
    assert_eq!(got, [vec![0, 2, 4], vec![1, 3]]);
    assert_eq!(counts(served).await, Counts { ready: 3, leased: 5, scheduled: 0 });
    assert_eq!(numbers(&served.lease("jobs", 10).await), [5, 6, 7]);
}

/// The router thought that all was promised; it hears that it was not, and nobody has to ask again.
pub async fn waiting_lease_gets_what_a_shorter_answer_left(served: &mut Served) {
    filled(served, 6, 100).await;
    let first = held_lease(served, 10).await;
    let mut second = std::pin::pin!(served.lease("jobs", 10));
    assert!(tokio::time::timeout(SHORT, &mut second).await.is_err(), "it waits");
    served.faults.release();
    assert_eq!(numbers(&first.await.expect("it ends").expect("items")), [0, 1, 2]);
    assert_eq!(numbers(&second.await), [3, 4, 5]);
}

/// What is told apart by a look at the whole line stays so when only a part of it is leased.
pub async fn cut_answers_do_not_hide_items_among_expired_ones(served: &mut Served) {
    filled(served, 0, 100).await;
    served.create("dead").await;
    served
        .create_with("dying", |queue| {
            queue.dead_queue = Some(name("dead"));
            queue.expire_timeout = HOUR;
        })
        .await;
    served.engine.delete_queue(&name("dead")).await.expect("delete");
    served.produce_items("dying", items(90, 2), PATIENCE).await.expect("produce");
    // Nobody takes them: they stay, and cannot be leased.
    served.advance(HOUR + LATE);
    served.produce_items("dying", items(0, 7), PATIENCE).await.expect("produce");
    for expected in [vec![0, 1, 2], vec![3, 4, 5], vec![6]] {
        assert_eq!(numbers(&served.lease("dying", 10).await), expected);
    }
    served.assert_nothing_to_lease("dying").await;
}

/// At once, though it would have waited; and once there is room the items are as if nobody had asked.
pub async fn lease_without_room_is_refused_and_nothing_is_leased(served: &mut Served) {
    filled(served, 8, 3).await;
    let first = served.lease("jobs", 10).await;
    assert_eq!(numbers(&first), [0, 1, 2]);
    served.faults.take_calls("lease");
    for _ in 0..3 {
        assert_eq!(words(served.try_lease("jobs", 10, PATIENCE).await), OVERLOADED);
    }
    assert_eq!(served.faults.take_calls("lease"), 0, "the store is not asked to lease anything");
    assert_eq!(counts(served).await, Counts { ready: 5, leased: 3, scheduled: 0 });
    served.complete("jobs", &first).await.expect("what is held can be completed");
    assert_eq!(words(served.try_lease("jobs", 10, PATIENCE).await), OVERLOADED);
    drop(first);
    let second = served.lease("jobs", 10).await;
    assert_eq!(numbers(&second), [3, 4, 5]);
    assert!(second.items.iter().all(|item| item.attempts == 1), "{second:?}");
}

/// The produce is not refused along with it.
pub async fn waiting_lease_without_room_is_refused_and_its_items_stay_ready(served: &mut Served) {
    filled(served, 3, 3).await;
    let first = served.lease("jobs", 10).await;
    let waiting = served.waiting_lease("jobs", "waiting", 10).await;
    served.produce_items("jobs", items(3, 2), PATIENCE).await.expect("produce");
    assert_eq!(words(waiting.await.expect("it ends")), OVERLOADED);
    assert_eq!(counts(served).await, Counts { ready: 2, leased: 3, scheduled: 0 });
    drop(first);
    let second = served.engine.lease(lease_request("jobs", "waiting", 10)).await.expect("items");
    assert_eq!(numbers(&second), [3, 4]);
    assert!(second.items.iter().all(|item| item.attempts == 1), "{second:?}");
}

/// Rather fewer items than none.
pub async fn answer_is_as_long_as_there_is_room(served: &mut Served) {
    filled(served, 8, 5).await;
    let first = served.lease("jobs", 10).await;
    let second = served.lease("jobs", 10).await;
    assert_eq!([numbers(&first), numbers(&second)], [vec![0, 1, 2], vec![3, 4]]);
    assert_eq!(words(served.try_lease("jobs", 1, PATIENCE).await), OVERLOADED);
    drop(second);
    let third = served.lease("jobs", 1).await;
    let fourth = served.lease("jobs", 10).await;
    assert_eq!([numbers(&third), numbers(&fourth)], [vec![5], vec![6]]);
}

/// Whichever queue and partition an answer is of.
pub async fn room_is_shared_by_all_queues(served: &mut Served) {
    filled(served, 3, 4).await;
    served.create_with("others", |queue| queue.requested_partitions = 2).await;
    served.produce_items("others", items(0, 1), PATIENCE).await.expect("produce");
    served.produce_items("others", items(1, 1), PATIENCE).await.expect("produce");
    let first = served.lease("jobs", 10).await;
    let second = served.lease("others", 10).await;
    assert_eq!((first.items.len(), second.items.len()), (3, 1));
    assert_eq!(words(served.try_lease("others", 10, PATIENCE).await), OVERLOADED);
    drop(first);
    assert_eq!(served.lease("others", 10).await.items.len(), 1);
}

/// It would never be leased otherwise.
pub async fn item_larger_than_all_room_is_leased_when_nobody_else_has_any(served: &mut Served) {
    filled(served, 1, 2).await;
    served
        .produce_items("jobs", vec![item(1, 9 * ITEM_BYTES), item(2, 500)], PATIENCE)
        .await
        .expect("produce");
    let first = served.lease("jobs", 1).await;
    assert_eq!(words(served.try_lease("jobs", 10, PATIENCE).await), OVERLOADED);
    drop(first);
    let large = served.lease("jobs", 10).await;
    assert_eq!(numbers(&large), [1]);
    assert_eq!(words(served.try_lease("jobs", 10, PATIENCE).await), OVERLOADED, "it takes all of it");
    drop(large);
    assert_eq!(numbers(&served.lease("jobs", 10).await), [2]);
}

/// A caller who is gone has let go of whatever it was to be told.
pub async fn answer_that_nobody_takes_leaves_its_room(served: &mut Served) {
    filled(served, 4, 3).await;
    let gone = held_lease(served, 3).await;
    gone.abort();
    assert!(gone.await.is_err_and(|ended| ended.is_cancelled()));
    served.faults.release();
    assert_eq!(numbers(&served.lease("jobs", 1).await), [3]);
}

/// Room is counted once for a write, whether it happened or not, and is free again when nothing came of it: it is needed
/// for the next attempt.
pub async fn lease_over_a_failing_store_has_its_room_once(served: &mut Served) {
    filled(served, 10, 3).await;
    for (fault, expected) in
        [(Fault::LostAnswer, [0, 1, 2]), (Fault::Unavailable, [3, 4, 5]), (Fault::LostRequest, [6, 7, 8])]
    {
        served.faults.once("lease", fault);
        let leased = served.lease("jobs", 10).await;
        assert_eq!(numbers(&leased), expected, "{fault:?}");
        assert_eq!(words(served.try_lease("jobs", 10, PATIENCE).await), OVERLOADED, "{fault:?}");
    }
}

/// Consumers who keep what they got for a while: at no time is there more of it than there may be.
pub async fn crowd_over_the_limit_stays_within_it_and_loses_nothing(served: &mut Served) {
    const CONSUMERS: usize = 6;
    const ITEMS: usize = 240;
    const ANSWER_MAX: usize = 6_000;
    const ANSWERS_MAX: usize = 12_000;
    served
        .reconfigure(|config| {
            config.answer_bytes_max = ANSWER_MAX;
            config.answers_bytes_max = ANSWERS_MAX;
        })
        .await;
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    let mut dice = Dice(0x5eed);
    let sizes: Vec<usize> = (0..ITEMS).map(|_| 500 + dice.index(7_000)).collect();
    let (held, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let started = Instant::now();
    let mut consumers = tokio::task::JoinSet::new();
    for number in 0..CONSUMERS {
        let (engine, mut dice) = (served.engine.clone(), Dice(number as u64));
        let (held, taken) = (held.clone(), taken.clone());
        consumers.spawn(async move {
            let (mut done, mut refused) = (Vec::new(), 0);
            loop {
                let batch_size = 1 + i64::try_from(dice.index(20)).expect("fits");
                let request = crate::LeaseRequest {
                    timeout: SHORT,
                    ..lease_request("jobs", &format!("c{number}"), batch_size)
                };
                let leased = match engine.lease(request).await {
                    Ok(leased) => leased,
                    Err(Error::Overloaded) => {
                        refused += 1;
                        tokio::task::yield_now().await;
                        continue;
                    }
                    Err(Error::LeaseTimeout) if taken.load(Ordering::SeqCst) == ITEMS => {
                        return (done, refused);
                    }
                    Err(Error::LeaseTimeout) => {
                        assert!(started.elapsed() < 3 * PATIENCE, "only {taken:?} were leased");
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                let bytes = leased.items.iter().map(Item::bytes).sum();
                let before = held.fetch_add(bytes, Ordering::SeqCst);
                assert!(before + bytes <= ANSWERS_MAX, "{bytes} bytes beside {before}");
                assert!(leased.items.len() == 1 || bytes <= ANSWER_MAX, "{bytes} bytes in one answer");
                assert!(leased.items.is_sorted_by_key(|item| item.id));
                taken.fetch_add(leased.items.len(), Ordering::SeqCst);
                done.extend(numbers(&leased));
                let ids = leased.items.iter().map(|item| item.id.into()).collect();
                let (queue, partition) = (name("jobs"), leased.partition.into());
                let request = CompleteRequest { queue, partition, timeout: PATIENCE, ids };
                engine.complete(request).await.expect("it is held");
                held.fetch_sub(bytes, Ordering::SeqCst);
                drop(leased);
            }
        });
    }
    for (number, bytes) in sizes.into_iter().enumerate() {
        served.produce_items("jobs", vec![item(number, bytes)], PATIENCE).await.expect("produce");
    }
    let (mut done, mut refused) = (Vec::new(), 0);
    while let Some(ended) = consumers.join_next().await {
        let (some, times) = ended.expect("no consumer fails");
        done.extend(some);
        refused += times;
    }
    done.sort_unstable();
    assert_eq!(done, (0..ITEMS).collect::<Vec<_>>(), "each once; {refused} leases were refused");
}
