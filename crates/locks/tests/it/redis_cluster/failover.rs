//! Prefixes without a hash tag, redirections, and a primary that dies.

use std::time::Instant;

use leasehold_core::{Class, LockCode};
use leasehold_locks::LockBackend;
use leasehold_locks::backend::redis::RedisBackend;
use leasehold_testkit::redis::{Cluster, Settings};

use super::{shared, url};
use crate::redis::raw::{LIMIT, Raw, config, connected, request};

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn prefix_without_hash_tag_is_refused_and_told_what_to_set() {
    let error = RedisBackend::new(&config(&url(shared()), "syncguard")).expect_err("is refused");
    assert_eq!((error.code(), error.class()), ("lock.bad_config", Class::Rejected));
    assert!(error.to_string().contains("key_prefix") && error.to_string().contains("{syncguard}"), "{error}");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn node_of_a_cluster_taken_for_a_single_server_is_rejected() {
    let mut codes = Vec::new();
    for node in shared().primaries() {
        for prefix in ["syncguard", "{single}"] {
            let backend = connected(&node.url(), prefix).await;
            match backend.acquire(&request("billing")).await {
                Err(error) => codes.push(error.lock_code()),
                Ok(outcome) => {
                    // Two of three nodes send on; this one serves the slot.
                    let grant = outcome.acquired().expect("is free");
                    backend.release(&grant.lock_id).await.expect("answers");
                }
            }
        }
    }
    assert_eq!(codes, [LockCode::InvalidArgument; 5]);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn any_node_leads_to_the_primary_of_the_slot() {
    for (number, node) in shared().nodes().iter().enumerate() {
        let one = format!("redis-cluster://{}", node.address());
        let backend = connected(&one, &format!("{{any-{number}}}")).await;
        let asked = request("billing");
        backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
        assert!(backend.release(&asked.lock_id).await.expect("answers").is_released());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn killed_primary_is_unavailable_in_time_and_its_replica_takes_over() {
    let cluster = Cluster::start(Settings::volatile()).expect("a cluster");
    let backend = connected(&url(&cluster), "{failover}").await;
    let mut serving = None;
    for (number, node) in cluster.primaries().iter().enumerate() {
        let raw = Raw::connect(&node.url()).await;
        if raw.try_ask::<i64>(&["EXISTS", "{failover}"]).await.is_ok() {
            serving = Some((number, raw));
        }
    }
    let (number, raw) = serving.expect("a primary serves the slot");

    let before = request("billing");
    let first = backend.acquire(&before).await.expect("answers").acquired().expect("is free");
    assert_eq!(raw.ask::<i64>(&["WAIT", "1", "15000"]).await, 1, "the replica has it");
    let mut others = Vec::new();
    for node in cluster.nodes().iter().filter(|node| node.address() != cluster.primaries()[number].address())
    {
        others.push(Raw::connect(&node.url()).await);
    }
    // Nobody takes over before the test wants it, however long it stands still.
    dead_after(&others, "600000").await;
    cluster.primaries()[number].kill().expect("killed");

    let started = Instant::now();
    let error = backend.acquire(&request("other")).await.expect_err("nobody serves the slot");
    assert_ne!(error.class(), Class::Rejected, "{error:?}");
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());

    dead_after(&others, "1000").await;
    tokio::task::block_in_place(|| cluster.await_ok()).expect("a replica takes over");
    let released = answered(async || backend.release(&before.lock_id).await).await;
    assert!(released.is_released(), "the hold was taken over too");
    let after = request("billing");
    let next = answered(async || backend.acquire(&after).await).await.acquired().expect("is free");
    assert!(next.fence > first.fence);
}

/// How many milliseconds a node may be silent until these nodes take it for dead.
async fn dead_after(nodes: &[Raw], millis: &str) {
    for node in nodes {
        node.ask::<()>(&["CONFIG", "SET", "cluster-node-timeout", millis]).await;
    }
}

/// Asks until there is an answer, as a client does while nodes settle who serves.
async fn answered<T>(ask: impl AsyncFn() -> leasehold_locks::Result<T>) -> T {
    let started = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) => {
                assert_ne!(error.class(), Class::Rejected, "{error:?}");
                assert!(started.elapsed() < LIMIT, "{error:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn slot_that_moves_to_another_node_is_followed() {
    let cluster = Cluster::start_with(Settings::volatile(), 3, 0).expect("a cluster");
    let backend = connected(&url(&cluster), "{moving}").await;
    let asked = request("billing");
    let mut nodes = Vec::new();
    for node in cluster.primaries() {
        let raw = Raw::connect(&node.url()).await;
        let id: String = raw.ask(&["CLUSTER", "MYID"]).await;
        let serves = raw.try_ask::<i64>(&["EXISTS", "{moving}"]).await.is_ok();
        nodes.push((raw, id, serves));
    }
    nodes.sort_by_key(|(_, _, serves)| !serves);
    let slot: i64 = nodes[0].0.ask(&["CLUSTER", "KEYSLOT", "{moving}"]).await;
    // An empty slot can be given away by decree.
    for (raw, _, _) in nodes.iter().skip(1).chain(nodes.iter().take(1)) {
        raw.ask::<()>(&["CLUSTER", "SETSLOT", &slot.to_string(), "NODE", &nodes[1].1]).await;
    }
    let grant = backend.acquire(&asked).await.expect("is sent on").acquired().expect("is free");
    assert_eq!(nodes[1].0.ask::<i64>(&["EXISTS", "{moving}:billing"]).await, 1);
    assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
}
