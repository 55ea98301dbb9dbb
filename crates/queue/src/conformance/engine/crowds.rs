//! Many at once, and the end.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::faulty::Fault;
use super::served::{
    HOUR, MINUTE, PATIENCE, SHORT, Served, lease_request, name, new_item, payloads, queue_change, words,
};
use crate::{CompleteRequest, Error, LeaseRequest, Namespace, ProduceRequest};

/// Every one of a thousand consumers gets its item.
pub async fn thousand_waiting_consumers_are_served(served: &mut Served) {
    served.create("jobs").await;
    let waiting: Vec<_> = (0..1_000)
        .map(|number| {
            let engine = served.engine.clone();
            let request = lease_request("jobs", &format!("c{number}"), 1);
            tokio::spawn(async move { engine.lease(request).await })
        })
        .collect();
    served.until(|| async { served.stats("jobs").await.lease_waiting == 1_000 }).await;
    served.produce_items("jobs", vec![new_item("x"); 1_000], PATIENCE).await.expect("produce");
    let mut ids = HashSet::new();
    for lease in waiting {
        let leased = lease.await.expect("it ends").expect("an item each");
        assert_eq!(leased.items.len(), 1);
        assert!(ids.insert(leased.items[0].id), "given once");
    }
}

/// Far more queues than a store has connections or prepared statements; each gives back what it got.
pub async fn many_queues_are_served(served: &mut Served) {
    let queues = usize::try_from(1_000 / served.shortened()).expect("fits");
    queues_are_served(served, queues).await;
}

/// So many queues, worked on by several clients at once.
pub async fn queues_are_served(served: &mut Served, queues: usize) {
    const AT_ONCE: usize = 8;
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..AT_ONCE {
        let engine = served.engine.clone();
        tasks.spawn(async move {
            for number in (worker..queues).step_by(AT_ONCE) {
                let (queue, namespace) = (name(&format!("q{number}")), Namespace::default());
                engine.create_queue(queue.clone(), namespace, queue_change()).await.expect("create");
                let items = vec![new_item(&number.to_string()); 2];
                let request = ProduceRequest { queue, timeout: PATIENCE, items };
                engine.produce(request).await.expect("produce");
            }
            for number in (worker..queues).step_by(AT_ONCE) {
                let queue = format!("q{number}");
                let leased = engine.lease(lease_request(&queue, "c", 10)).await.expect("lease");
                assert_eq!(payloads(&leased.items), vec![number.to_string(); 2], "{queue}");
                let ids = leased.items.iter().map(|item| item.id.into()).collect();
                let (queue, partition) = (name(&queue), leased.partition.into());
                let request = CompleteRequest { queue, partition, timeout: PATIENCE, ids };
                engine.complete(request).await.expect("complete");
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("it ends well");
    }
    let overview = served.engine.overview().await;
    assert_eq!(overview.len(), queues);
    assert!(overview.iter().all(|queue| queue.partitions[0].totals.completed == 2));
}

/// Producers and consumers at work together lose nothing and get nothing twice.
pub async fn producers_and_consumers_lose_nothing(served: &mut Served) {
    const WORKERS: usize = 8;
    const EACH: usize = 50;
    served.create_with("jobs", |queue| queue.requested_partitions = 3).await;
    let mut tasks = tokio::task::JoinSet::new();
    let (taken, started) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    for worker in 0..WORKERS {
        let engine = served.engine.clone();
        tasks.spawn(async move {
            for number in 0..EACH {
                let items = vec![new_item(&format!("{worker}-{number}"))];
                engine
                    .produce(ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items })
                    .await
                    .expect("produce");
            }
            Vec::new()
        });
        let (engine, taken) = (served.engine.clone(), taken.clone());
        tasks.spawn(async move {
            let mut done = Vec::new();
            loop {
                let request =
                    LeaseRequest { timeout: SHORT, ..lease_request("jobs", &format!("c{worker}"), 7) };
                let leased = match engine.lease(request).await {
                    Ok(leased) => leased,
                    Err(Error::LeaseTimeout | Error::LeaseUnavailable) => {
                        let all = taken.load(Ordering::Relaxed) >= WORKERS * EACH;
                        if all || started.elapsed() > PATIENCE {
                            return done;
                        }
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                };
                taken.fetch_add(leased.items.len(), Ordering::Relaxed);
                let ids = leased.items.iter().map(|item| item.id.into()).collect();
                let partition = leased.partition.into();
                let request = CompleteRequest { queue: name("jobs"), partition, timeout: PATIENCE, ids };
                engine.complete(request).await.expect("it is held");
                done.extend(
                    leased.items.iter().map(|item| String::from_utf8_lossy(&item.payload).into_owned()),
                );
            }
        });
    }
    let mut done = Vec::new();
    while let Some(one) = tasks.join_next().await {
        done.extend(one.expect("no worker fails"));
    }
    assert_eq!(done.len(), WORKERS * EACH);
    assert_eq!(done.into_iter().collect::<HashSet<_>>().len(), WORKERS * EACH);
    let stats = served.stats("jobs").await;
    assert!(stats.partitions.iter().all(|partition| partition.counts == crate::store::Counts::default()));
    assert_eq!(
        (stats.in_flight, stats.lease_waiting, stats.produce_waiting, stats.complete_waiting),
        (0, 0, 0, 0)
    );
}

/// Many small requests that arrive together share their writes.
pub async fn small_requests_share_their_writes(served: &mut Served) {
    served.create("jobs").await;
    served.engine.pause(&name("jobs")).await.expect("pause");
    let produces: Vec<_> = (0..100)
        .map(|_| {
            let engine = served.engine.clone();
            let request =
                ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("x")] };
            tokio::spawn(async move { engine.produce(request).await })
        })
        .collect();
    served.until(|| async { served.stats("jobs").await.produce_waiting == 100 }).await;
    served.faults.take_calls("produce");
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    for produce in produces {
        produce.await.expect("it ends").expect("produce");
    }
    assert_eq!(served.faults.take_calls("produce"), 1);
}

/// More requests than may wait are refused at once, and what waits is not disturbed.
pub async fn overload_is_refused_at_once(served: &mut Served) {
    served
        .reconfigure(|config| {
            config.requests_max = 10;
            config.waiting_max = 5;
        })
        .await;
    served.create("jobs").await;
    for number in 0..5 {
        served.waiting_lease("jobs", &format!("c{number}"), 1).await;
    }
    let refused = served.engine.lease(lease_request("jobs", "one-more", 1)).await;
    assert_eq!(words(refused), "queue is overloaded; try again later");
    served.engine.pause(&name("jobs")).await.expect("pause");
    let mut completes = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let engine = served.engine.clone();
        let ids = vec![crate::ItemId::MIN.into()];
        let request = CompleteRequest { queue: name("jobs"), partition: 0, timeout: PATIENCE, ids };
        completes.spawn(async move { engine.complete(request).await });
    }
    for _ in 0..10 {
        let refused = completes.join_next().await.expect("ten are too many").expect("it ends");
        assert!(matches!(refused, Err(Error::Overloaded)), "{refused:?}");
    }
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    while let Some(answer) = completes.join_next().await {
        let answer = answer.expect("it ends");
        assert!(matches!(answer, Err(Error::ItemNotFound { .. })), "{answer:?}");
    }
    assert_eq!(served.stats("jobs").await.lease_waiting, 5);
}

/// Items that wait to be stored take no more memory than they may.
pub async fn items_that_wait_are_bounded_in_bytes(served: &mut Served) {
    served.reconfigure(|config| config.waiting_bytes_max = 10_000).await;
    served.create("jobs").await;
    let large = || vec![new_item(&"x".repeat(20_000))];
    served.produce_items("jobs", large(), PATIENCE).await.expect("one request is always let in");
    served.engine.pause(&name("jobs")).await.expect("pause");
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: large() };
    let held = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    assert_eq!(
        words(served.try_produce("jobs", &["x"], PATIENCE).await),
        "queue is overloaded; try again later"
    );
    served.engine.unpause(&name("jobs")).await.expect("unpause");
    held.await.expect("it ends").expect("produce");
    served.produce("jobs", &["x"]).await;
}

/// Queues are independent, however many.
pub async fn hundred_queues_are_served(served: &mut Served) {
    for number in 0..100 {
        served.create(&format!("q{number}")).await;
    }
    for number in 0..100 {
        let queue = format!("q{number}");
        served.produce(&queue, &[&queue]).await;
    }
    for number in 0..100 {
        let queue = format!("q{number}");
        let leased = served.lease(&queue, 10).await;
        assert_eq!(super::served::payloads(&leased.items), [queue.as_str()]);
    }
}

/// A stop answers whoever waits, refuses whoever comes, and is done once.
pub async fn shutdown_answers_everyone(served: &mut Served) {
    // What nobody answers would be cut after this.
    served.reconfigure(|config| config.shutdown_grace = PATIENCE * 2).await;
    served.create("jobs").await;
    served.create("paused").await;
    let lease = served.waiting_lease("jobs", "c", 1).await;
    served.engine.pause(&name("paused")).await.expect("pause");
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("paused"), timeout: PATIENCE, items: vec![new_item("x")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("paused").await.produce_waiting == 1 }).await;
    let started = Instant::now();
    served.engine.shutdown().await;
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    assert_eq!(words(lease.await.expect("it ends")), "queue is shutting down");
    assert_eq!(words(produce.await.expect("it ends")), "queue is shutting down");
    let stopped = "service is shutting down";
    assert_eq!(words(served.try_produce("jobs", &["x"], PATIENCE).await), stopped);
    assert_eq!(words(served.try_lease("jobs", 1, PATIENCE).await), stopped);
    assert_eq!(words(served.engine.stats(&name("jobs")).await), stopped);
    assert_eq!(words(served.try_create("new", |_| {}).await), stopped);
    served.engine.shutdown().await;
}

/// A stop finishes what is being written, and answers it truly.
pub async fn shutdown_finishes_what_is_being_written(served: &mut Served) {
    served.create("jobs").await;
    served.faults.once("produce", Fault::Held);
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("x")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.faults.take_calls("produce") == 1 }).await;
    let engine = served.engine.clone();
    let stop = tokio::spawn(async move { engine.shutdown().await });
    served.until(|| async { served.try_produce("jobs", &["y"], SHORT).await.is_err() }).await;
    served.faults.release();
    assert!(produce.await.expect("it ends").is_ok());
    stop.await.expect("it ends");
}

/// A store that hangs does not keep the engine from stopping, and its write is said to be unknown.
pub async fn shutdown_is_bounded_when_the_store_hangs(served: &mut Served) {
    served
        .reconfigure(|config| {
            config.shutdown_grace = Duration::from_millis(300);
            config.storage_timeout = PATIENCE * 10;
        })
        .await;
    served.create("jobs").await;
    served.faults.everything(None, Fault::Hang);
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("x")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.faults.take_calls("produce") == 1 }).await;
    let started = Instant::now();
    served.engine.shutdown().await;
    assert!(started.elapsed() < PATIENCE / 2, "{:?}", started.elapsed());
    let answer = produce.await.expect("it ends");
    assert!(matches!(answer, Err(Error::Indeterminate { .. })), "{answer:?}");
}

/// A stop while every partition fails, and while time passes.
pub async fn shutdown_while_everything_fails(served: &mut Served) {
    served.reconfigure(|config| config.shutdown_grace = PATIENCE * 2).await;
    served.create("dead").await;
    served.create_with("jobs", |queue| queue.dead_queue = Some(name("dead"))).await;
    served.produce("jobs", &["a"]).await;
    let leased = served.lease("jobs", 1).await;
    served.faults.always("produce", None, Fault::Unavailable);
    served.retry("jobs", &leased, None, true).await.expect("retry");
    served.faults.everything(None, Fault::Unavailable);
    let engine = served.engine.clone();
    let request = ProduceRequest { queue: name("jobs"), timeout: PATIENCE, items: vec![new_item("x")] };
    let produce = tokio::spawn(async move { engine.produce(request).await });
    served.until(|| async { served.stats("jobs").await.produce_waiting == 1 }).await;
    served.advance(MINUTE + HOUR);
    let started = Instant::now();
    served.engine.shutdown().await;
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    let answer = produce.await.expect("it ends");
    assert!(matches!(answer, Err(Error::QueueStopping)), "{answer:?}");
}
