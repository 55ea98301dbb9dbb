//! What a store may do to us, and what must hold then.

use std::time::{Duration, Instant};

use super::faulty::Fault;
use super::served::{
    HOUR, LATE, MINUTE, PATIENCE, SHORT, Served, lease_request, name, new_item, payloads, words,
};
use crate::{ClearRequest, Error, ImportItem};

/// How long the engine waits for a store that does not answer: longer than a busy machine needs for one that does.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(2);

/// A request is at work within this time, so that what becomes of it is the store's doing.
const TAKEN_WITHIN: Duration = Duration::from_secs(2);

/// A write that failed is tried in another partition; an answer of success means stored.
pub async fn failed_produce_goes_to_another_partition(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    served.faults.always("produce", Some(0), Fault::Unavailable);
    for payload in ["a", "b", "c"] {
        assert_eq!(served.produce("jobs", &[payload]).await.partition, 1);
    }
    assert_eq!(payloads(&served.items("jobs", 1).await), ["a", "b", "c"]);
}

/// When no partition works a produce ends at its timeout, and nothing is stored.
pub async fn produce_times_out_when_every_partition_fails(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    served.faults.everything(None, Fault::Unavailable);
    let started = Instant::now();
    let answer = served.try_produce("jobs", &["a"], TAKEN_WITHIN).await;
    assert!(matches!(answer, Err(Error::ProduceTimeout)), "{answer:?}");
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    let answer = served.try_lease("jobs", 1, SHORT).await;
    assert!(matches!(answer, Err(Error::LeaseUnavailable)), "nobody knows: {answer:?}");
    let answer = served.complete_ids("jobs", 0, vec![crate::ItemId::MIN.into()]).await;
    assert!(
        matches!(answer, Err(Error::PartitionFailing { partition: 0 } | Error::Storage(_))),
        "{answer:?}"
    );
    served.faults.heal();
    served
        .until(|| async { served.stats("jobs").await.partitions.iter().all(|one| one.failures == 0) })
        .await;
    served.assert_nothing_to_lease("jobs").await;
}

/// A full disk can be read: the partition is opened again and again, and only its writes fail. Whoever looks between two of
/// them must hear of it.
pub async fn store_that_takes_no_writes_is_told_also_between_them(served: &mut Served) {
    served.create("jobs").await;
    served.faults.always("produce", None, Fault::Unavailable);
    served
        .until(|| async {
            let answer = served.try_produce("jobs", &["a"], TAKEN_WITHIN).await;
            assert!(matches!(answer, Err(Error::ProduceTimeout)), "{answer:?}");
            served.partition_stats("jobs").await.failures > 1
        })
        .await;
    let list = || async {
        let queue = name("jobs");
        served.engine.list_items(crate::ListItems { queue: &queue, partition: 0, pivot: "", limit: 0 }).await
    };
    served.until(|| async { list().await.is_ok() }).await;
    assert!(served.partition_stats("jobs").await.failures > 1, "it is open, and nothing was written");
    served.faults.heal();
    served.produce("jobs", &["b"]).await;
    assert_eq!(served.partition_stats("jobs").await.failures, 0);
}

/// A produce that waits for a partition is stored when one is back.
pub async fn produce_waits_for_a_partition_to_recover(served: &mut Served) {
    served.create("jobs").await;
    served.faults.everything(None, Fault::Unavailable);
    let engine = served.engine.clone();
    let request =
        crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("a")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    // What the partition does by itself may fail before the request has come.
    served.until(|| async { served.partition_stats("jobs").await.failures > 0 }).await;
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    served.faults.heal();
    produce.await.expect("it ends").expect("stored at last");
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["a"]);
}

/// A produce whose answer was lost is stored once, and answered truly.
pub async fn lost_answer_of_a_produce_is_settled(served: &mut Served) {
    served.create("jobs").await;
    served.faults.once("produce", Fault::LostAnswer);
    served.produce("jobs", &["a", "b"]).await;
    served.faults.once("produce", Fault::LostRequest);
    served.produce("jobs", &["c"]).await;
    assert_eq!(payloads(&served.items("jobs", 0).await), ["a", "b", "c"]);
    served.lease("jobs", 10).await;
    let waiting = served.waiting_lease("jobs", "c", 10).await;
    served.faults.once("produce", Fault::LostAnswer);
    served.produce("jobs", &["direct"]).await;
    let leased = waiting.await.expect("it ends").expect("items");
    assert_eq!(payloads(&leased.items), ["direct"]);
    served.complete("jobs", &leased).await.expect("it is held");
}

/// A lease whose answer was lost is given to whoever asked, once.
pub async fn lost_answer_of_a_lease_is_settled(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b", "c"]).await;
    served.faults.once("lease", Fault::LostAnswer);
    let first = served.lease("jobs", 2).await;
    assert_eq!((payloads(&first.items), first.items[0].attempts), (vec!["a", "b"], 1));
    served.faults.once("lease", Fault::LostRequest);
    let second = served.lease("jobs", 2).await;
    assert_eq!((payloads(&second.items), second.items[0].attempts), (vec!["c"], 1));
    served.complete("jobs", &first).await.expect("held");
    served.complete("jobs", &second).await.expect("held");
}

/// A complete whose answer was lost is answered by what is stored.
pub async fn lost_answer_of_a_complete_is_settled(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    let (a, b) = (served.lease("jobs", 1).await, served.lease("jobs", 1).await);
    served.faults.once("change", Fault::LostAnswer);
    served.complete("jobs", &a).await.expect("it happened");
    served.faults.once("change", Fault::LostRequest);
    let answer = served.complete("jobs", &b).await;
    assert!(matches!(answer, Err(Error::Storage(_))), "{answer:?}");
    assert_eq!(words(answer), "internal error, try your request again");
    served.complete("jobs", &b).await.expect("nothing had happened");
    assert_eq!(served.partition_stats("jobs").await.counts.leased, 0);
}

/// A lost answer is no proof of completion for an item whose lease had run out before.
pub async fn lost_answer_does_not_complete_what_was_not_held(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let late = served.lease("jobs", 1).await;
    served.advance(MINUTE + LATE);
    served.until_ready("jobs", 1).await;
    for fault in [Fault::LostAnswer, Fault::LostRequest] {
        served.faults.once("change", fault);
        let answer = served.complete("jobs", &late).await;
        assert!(matches!(answer, Err(Error::Indeterminate { operation: "complete", .. })), "{answer:?}");
    }
    assert_eq!(served.lease("jobs", 1).await.items[0].attempts, 2);
}

/// Retries too, be they for now, for later, or for the dead.
pub async fn lost_answer_of_a_retry_is_settled(served: &mut Served) {
    served.create("dead").await;
    served.create_with("jobs", |queue| queue.dead_queue = Some(name("dead"))).await;
    served.produce("jobs", &["now", "later", "dead"]).await;
    let now = served.lease("jobs", 1).await;
    let later = served.lease("jobs", 1).await;
    let dead = served.lease("jobs", 1).await;
    for fault in [Fault::LostRequest, Fault::LostAnswer] {
        let expect = fault == Fault::LostAnswer;
        for (leased, at, is_dead) in
            [(&now, None, false), (&later, Some(served.after(HOUR)), false), (&dead, None, true)]
        {
            served.faults.once("change", fault);
            let answer = served.retry("jobs", leased, at, is_dead).await;
            assert_eq!(answer.is_ok(), expect, "{answer:?}");
        }
    }
    served.until_ready("dead", 1).await;
    assert_eq!(payloads(&served.scheduled("jobs").await), ["later"]);
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["now"]);
}

/// A store that never answers does not hold a caller longer than the engine's own limits.
pub async fn store_that_hangs_does_not_hang_callers(served: &mut Served) {
    served
        .reconfigure(|config| {
            config.storage_timeout = STORAGE_TIMEOUT;
            config.open_timeout = STORAGE_TIMEOUT;
        })
        .await;
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let held = served.lease("jobs", 1).await;
    served.faults.everything(None, Fault::Hang);
    let started = Instant::now();
    let produce = served.try_produce("jobs", &["b"], TAKEN_WITHIN).await;
    assert!(
        matches!(produce, Err(Error::Indeterminate { operation: "produce", .. } | Error::ProduceTimeout)),
        "{produce:?}"
    );
    let complete = served.complete("jobs", &held).await;
    assert!(matches!(complete, Err(Error::PartitionFailing { .. } | Error::Storage(_))), "{complete:?}");
    assert_eq!(served.partition_stats("jobs").await.counts.leased, 1, "the last known figures");
    assert!(started.elapsed() < PATIENCE / 2 + TAKEN_WITHIN, "{:?}", started.elapsed());
    served.faults.heal();
    served.until(|| async { served.partition_stats("jobs").await.failures == 0 }).await;
    served.complete("jobs", &held).await.expect("it is held");
}

/// A write that nobody can settle in time is unknown, and says so.
pub async fn outcome_that_stays_unknown_is_said_to_be(served: &mut Served) {
    served.reconfigure(|config| config.storage_timeout = STORAGE_TIMEOUT).await;
    served.create("jobs").await;
    served.faults.always("open", None, Fault::Unavailable);
    served.faults.once("produce", Fault::LostAnswer);
    let answer = served.try_produce("jobs", &["a"], TAKEN_WITHIN).await;
    assert!(matches!(answer, Err(Error::Indeterminate { operation: "produce", .. })), "{answer:?}");
    served.faults.heal();
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["a"]);
}

/// A client whose lease nobody could settle in time may ask again.
pub async fn client_may_ask_again_after_an_unknown_outcome(served: &mut Served) {
    served.reconfigure(|config| config.storage_timeout = STORAGE_TIMEOUT).await;
    served.create("jobs").await;
    served.produce("jobs", &["a", "b"]).await;
    served.faults.always("open", None, Fault::Unavailable);
    served.faults.once("lease", Fault::LostAnswer);
    let request = || crate::LeaseRequest { timeout: TAKEN_WITHIN, ..lease_request("jobs", "c", 1) };
    let answer = served.engine.lease(request()).await;
    assert!(matches!(answer, Err(Error::Indeterminate { operation: "lease", .. })), "{answer:?}");
    let answer = served.engine.lease(request()).await;
    assert!(matches!(answer, Err(Error::LeaseUnavailable)), "{answer:?}");
    served.faults.heal();
    let leased = served.engine.lease(lease_request("jobs", "c", 1)).await.expect("the store is back");
    assert_eq!(payloads(&leased.items), ["b"], "the first is leased, although nobody heard of it");
}

/// A client that leaves while its lease is being written takes nothing afterwards.
pub async fn lease_of_a_client_that_left_takes_nothing(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let engine = served.engine.clone();
    served.faults.once("lease", Fault::HeldUnavailable);
    served.faults.take_calls("lease");
    let lease = tokio::spawn(async move { engine.lease(lease_request("jobs", "gone", 1)).await });
    served.until(|| async { served.faults.take_calls("lease") == 1 }).await;
    lease.abort();
    assert!(lease.await.expect_err("it was aborted").is_cancelled());
    served.faults.release();
    served.until_writable("jobs").await;
    assert_eq!(served.stats("jobs").await.lease_waiting, 0);
    let leased = served.lease("jobs", 1).await;
    assert_eq!((payloads(&leased.items), leased.items[0].attempts), (vec!["a"], 1));
}

/// What a client that has left wanted to produce is not stored later.
pub async fn produce_of_a_client_that_left_stores_nothing(served: &mut Served) {
    served.create("jobs").await;
    let engine = served.engine.clone();
    served.faults.once("produce", Fault::HeldUnavailable);
    served.faults.take_calls("produce");
    let request =
        crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("gone")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.faults.take_calls("produce") == 1 }).await;
    produce.abort();
    assert!(produce.await.expect_err("it was aborted").is_cancelled());
    served.faults.release();
    served.until_writable("jobs").await;
    served.produce("jobs", &["later"]).await;
    assert_eq!(payloads(&served.items("jobs", 0).await), ["later"]);
}

/// A partition that another owner took stands aside until it is told to take it back.
pub async fn fenced_partition_steps_down_until_reload(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let second = served.second_engine();
    let request =
        crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("b")] };
    second.produce(request).await.expect("the second server takes the partition");
    let answer = served.try_produce("jobs", &["lost"], TAKEN_WITHIN).await;
    assert!(matches!(answer, Err(Error::ProduceTimeout)), "{answer:?}");
    let overview = served.engine.overview().await;
    let error = overview[0].partitions[0].last_error.as_ref().expect("it says why");
    assert!(error.message.contains("is owned by another server"), "{error:?}");
    second.shutdown().await;
    let answer = served.try_produce("jobs", &["lost"], SHORT).await;
    assert!(matches!(answer, Err(Error::ProduceTimeout)), "it does not come back by itself: {answer:?}");
    served.engine.reload(&name("jobs")).await.expect("reload");
    assert_eq!(payloads(&served.lease("jobs", 10).await.items), ["a", "b"]);
}

/// Whoever only asks for the record of a queue leaves its partitions to their owner.
pub async fn record_is_read_without_taking_the_partitions(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let second = served.second_engine();
    let record = second.queue(&name("jobs")).await.expect("it is there");
    assert_eq!(record.name, name("jobs"));
    assert!(second.overview().await.is_empty(), "it is not open there");
    assert_eq!(served.produce("jobs", &["b"]).await.partition, 0, "the owner has it still");
    second.shutdown().await;
}

/// Time passing does not make a fenced partition take itself back.
pub async fn fenced_partition_stays_down_when_time_passes(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    served.lease("jobs", 1).await;
    let second = served.second_engine();
    assert_eq!(second.stats(&name("jobs")).await.expect("stats").partitions[0].counts.leased, 1);
    for attempts in 2..6 {
        served.advance(MINUTE + LATE);
        let leased = second.lease(lease_request("jobs", "c", 1)).await.expect("the owner reclaims it");
        assert_eq!(leased.items[0].attempts, attempts);
        served.assert_nothing_to_lease("jobs").await;
    }
    second.shutdown().await;
}

/// Two servers that fight for a partition never both write: nothing acknowledged is lost.
pub async fn two_servers_lose_nothing(served: &mut Served) {
    served.create("jobs").await;
    let second = served.second_engine();
    let mut acknowledged = Vec::new();
    for round in 0..20 {
        let engine = if round % 2 == 0 { &served.engine } else { &second };
        engine.reload(&name("jobs")).await.expect("reload");
        let payload = round.to_string();
        let request =
            crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item(&payload)] };
        engine.produce(request).await.expect("the partition is taken");
        acknowledged.push(payload);
    }
    second.shutdown().await;
    served.engine.reload(&name("jobs")).await.expect("reload");
    assert_eq!(payloads(&served.lease("jobs", 100).await.items), acknowledged);
}

/// Queues whose partitions hang, or that have many of them, do not keep others from being opened, nor the store busy.
pub async fn partitions_are_opened_a_few_at_once(served: &mut Served) {
    for (queue, partitions) in [("many", 7), ("more", 7), ("jobs", 1), ("open", 1)] {
        served.create_with(queue, |change| change.requested_partitions = partitions).await;
    }
    served.reconfigure(|_| {}).await;
    served.produce("open", &["a"]).await;
    for partition in 1..7 {
        served.faults.always("open", Some(partition), Fault::Held);
    }
    let open = |queue: &'static str| {
        let engine = served.engine.clone();
        tokio::spawn(async move { engine.stats(&name(queue)).await })
    };
    let many = open("many");
    served.until(|| async { served.faults.opens() == 3 }).await;
    served.produce("open", &["b"]).await;
    served.produce("jobs", &["c"]).await;
    let more = open("more");
    served.until(|| async { served.faults.opens() == 4 }).await;
    served.faults.heal();
    for stats in [many, more] {
        let stats = stats.await.expect("it ends").expect("stats");
        assert!(stats.partitions.iter().all(|partition| partition.failures == 0), "{stats:?}");
    }
    assert_eq!(served.faults.opens_max(), 4);
}

/// A partition that waits to be opened is stopped at once.
pub async fn partition_that_waits_to_be_opened_is_stopped(served: &mut Served) {
    const PARTITIONS: u32 = 9;
    served.create_with("jobs", |queue| queue.requested_partitions = PARTITIONS.into()).await;
    served.reconfigure(|config| config.shutdown_grace = PATIENCE * 2).await;
    served.faults.always("open", None, Fault::Held);
    let lists: Vec<_> = (0..PARTITIONS)
        .map(|partition| {
            let engine = served.engine.clone();
            tokio::spawn(async move {
                let (queue, partition) = (name("jobs"), partition.into());
                let list = crate::ListItems { queue: &queue, partition, pivot: "", limit: 0 };
                engine.list_items(list).await
            })
        })
        .collect();
    served.until(|| async { served.faults.opens() == 3 }).await;
    served.faults.take_calls("open");
    let engine = served.engine.clone();
    let stop = tokio::spawn(async move { engine.shutdown().await });
    served.until(|| async { lists.iter().filter(|list| list.is_finished()).count() == 6 }).await;
    served.faults.release();
    stop.await.expect("it ends");
    assert_eq!(served.faults.take_calls("open"), 0, "those that waited were not opened");
}

/// A failing lifecycle is done when the store is back.
pub async fn lifecycle_goes_on_after_a_failure(served: &mut Served) {
    served.create("jobs").await;
    for (operation, fault) in [
        ("due", Fault::Unavailable),
        ("requeue", Fault::Unavailable),
        ("requeue", Fault::LostAnswer),
        ("requeue", Fault::LostRequest),
        ("deadlines", Fault::Unavailable),
    ] {
        served.produce("jobs", &[operation]).await;
        let leased = served.lease("jobs", 1).await;
        served.faults.once(operation, fault);
        served.advance(MINUTE + LATE);
        let again = served.lease("jobs", 10).await;
        assert_eq!(payloads(&again.items), [operation], "{fault:?}");
        assert_ne!(again.items[0].id, leased.items[0].id);
        served.complete("jobs", &again).await.expect("held");
    }
}

/// Imports, deletions and clears whose answer was lost are settled too.
pub async fn lost_answers_of_cold_requests_are_settled(served: &mut Served) {
    served.create("jobs").await;
    let queue = name("jobs");
    for fault in [Fault::LostAnswer, Fault::LostRequest] {
        let item = |payload: &'static str| ImportItem { payload: payload.into(), ..ImportItem::default() };
        served.faults.once("produce", fault);
        let imported =
            served.engine.import_items(&queue, 0, vec![item("a"), item("b")]).await.expect("import");
        assert_eq!(payloads(&served.items("jobs", 0).await), ["a", "b"], "{fault:?}");
        served.faults.once("remove", fault);
        served.engine.delete_items(&queue, 0, vec![imported[0].id.into()]).await.expect("delete");
        assert_eq!(payloads(&served.items("jobs", 0).await), ["b"]);
        served.faults.once("clear", fault);
        let all = ClearRequest { queue: true, destructive: true, scheduled: true };
        served.engine.clear(&queue, all).await.expect("clear");
        assert!(served.items("jobs", 0).await.is_empty());
    }
    served.faults.once("clear", Fault::Unavailable);
    let all = ClearRequest { queue: true, destructive: true, scheduled: true };
    assert!(
        matches!(served.engine.clear(&queue, all).await, Err(Error::Storage(_))),
        "a failure is answered"
    );
}

/// A slow partition does not hold up its neighbours.
pub async fn slow_partition_does_not_block_its_neighbours(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    served.faults.always("produce", Some(0), Fault::Held);
    let engine = served.engine.clone();
    let request =
        crate::ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("slow"); 5] };
    let slow = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.faults.take_calls("produce") == 1 }).await;
    for _ in 0..4 {
        let produced = served.try_produce("jobs", &["x"], PATIENCE).await.expect("produce");
        assert_eq!(produced.partition, 1);
        let leased = served.lease("jobs", 1).await;
        served.complete("jobs", &leased).await.expect("complete");
    }
    assert!(!slow.is_finished());
    served.faults.heal();
    slow.await.expect("it ends").expect("produce");
}

/// A partition that has many items and is slow does not attract leases for long.
pub async fn slow_partition_does_not_keep_leases_from_others(served: &mut Served) {
    served.create_with("jobs", |queue| queue.requested_partitions = 2).await;
    served.produce_items("jobs", vec![new_item("slow"); 100], PATIENCE).await.expect("produce");
    served.produce_items("jobs", vec![new_item("x"); 10], PATIENCE).await.expect("produce");
    served.faults.take_calls("lease");
    served.faults.always("lease", Some(0), Fault::Held);
    let (engine, request) = (served.engine.clone(), lease_request("jobs", "stuck", 1));
    let stuck = tokio::spawn(async move { engine.lease(request).await });
    // Not by the figures, which wait for the partition as well.
    served.until(|| async { served.faults.take_calls("lease") == 1 }).await;
    // So long that nobody calls it busy any more.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let leased = served.try_lease("jobs", 1, PATIENCE).await.expect("the other partition serves");
    assert_eq!(leased.partition, 1);
    assert!(!stuck.is_finished());
    served.faults.heal();
    assert_eq!(stuck.await.expect("it ends").expect("an item").partition, 0);
}

/// A pass over what is due that was slow, and found nothing, does not keep what ran out meanwhile.
pub async fn lease_that_runs_out_during_a_slow_pass_is_reclaimed(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["first", "second"]).await;
    let first = served.lease("jobs", 1).await;
    served.advance(MINUTE / 2);
    served.lease("jobs", 1).await;
    served.complete("jobs", &first).await.expect("complete");
    served.faults.take_calls("due");
    served.faults.always("due", None, Fault::Held);
    served.advance(MINUTE / 2 + LATE);
    served.until(|| async { served.faults.take_calls("due") == 1 }).await;
    served.advance(MINUTE / 2);
    served.faults.heal();
    served.until(|| async { served.stats("jobs").await.partitions[0].counts.leased == 0 }).await;
}

/// Nothing is asked of the store when there is nothing to do.
pub async fn quiet_queue_asks_nothing_of_its_store(served: &mut Served) {
    served.create("jobs").await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.complete("jobs", &leased).await.expect("complete");
    let operations = [
        "produce",
        "next_ready",
        "lease",
        "change",
        "due",
        "requeue",
        "fetch",
        "headers",
        "remove",
        "deadlines",
    ];
    for operation in operations {
        served.faults.take_calls(operation);
    }
    let answer =
        served.engine.lease(crate::LeaseRequest { timeout: SHORT, ..lease_request("jobs", "c", 1) }).await;
    assert!(matches!(answer, Err(Error::LeaseTimeout)));
    for operation in operations {
        assert_eq!(served.faults.take_calls(operation), 0, "{operation}");
    }
}
