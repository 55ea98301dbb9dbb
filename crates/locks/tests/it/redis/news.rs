//! Waiting is ended by news, and by asking where no news comes.

use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::backend::redis::RedisBackend;
use leasehold_locks::{AcquireOptions, Config, LockBackend, Locks, Retry};
use leasehold_testkit::proxy::FaultProxy;
use leasehold_testkit::redis::{Server, Settings};
use tokio::time::timeout;

use super::raw::{LIMIT, Raw, connected, key, request};

/// Asks again by itself only after an hour: whoever gets the key sooner was woken.
fn patient() -> AcquireOptions {
    let retry = Retry { delay: Duration::from_secs(3_600), retries_max: u32::MAX, ..Retry::default() };
    AcquireOptions::default().timeout(Duration::from_secs(3_600)).retry(retry)
}

fn locks(backend: RedisBackend) -> Locks {
    Locks::with_config(Arc::new(backend), Config::default())
}

/// Until somebody listens for releases under this prefix, so often.
async fn listeners(raw: &Raw, prefix: &str, count: i64) {
    let channel = format!("{}:freed", prefix.trim_end_matches(':'));
    let counted = async {
        loop {
            let (_, found): (String, i64) = raw.ask(&["PUBSUB", "NUMSUB", &channel]).await;
            if found == count {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, counted).await.unwrap_or_else(|_| panic!("never {count} listeners"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn release_of_another_client_wakes_the_waiter() {
    let server = Server::shared();
    let (prefix, raw) = (server.prefix(), Raw::connect(&server.url()).await);
    let (holder, waiter) = (connected(&server.url(), &prefix).await, connected(&server.url(), &prefix).await);
    let waiter = locks(waiter);
    for round in 0..20 {
        let held = request("billing");
        holder.acquire(&held).await.expect("answers").acquired().expect("is free");
        let waiting = tokio::spawn({
            let waiter = waiter.clone();
            async move { waiter.acquire(&key("billing"), &patient()).await }
        });
        listeners(&raw, &prefix, 1).await;
        holder.release(&held.lock_id).await.expect("answers");
        let guard = timeout(LIMIT, waiting).await.unwrap_or_else(|_| panic!("round {round}: not woken"));
        guard.expect("ends").expect("is free").release().await.expect("answers");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn release_while_nobody_listened_is_learnt_of_after_reconnecting() {
    let server = Server::shared();
    let prefix = server.prefix();
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let raw = Raw::connect(&server.url()).await;
    let holder = connected(&server.url(), &prefix).await;
    let waiter = locks(connected(&format!("redis://{}", proxy.address()), &prefix).await);
    let held = request("billing");
    holder.acquire(&held).await.expect("answers").acquired().expect("is free");
    let waiting = tokio::spawn({
        let waiter = waiter.clone();
        async move { waiter.acquire(&key("billing"), &patient()).await }
    });
    listeners(&raw, &prefix, 1).await;
    proxy.refuse(true);
    proxy.cut_all();
    listeners(&raw, &prefix, 0).await;
    holder.release(&held.lock_id).await.expect("answers");
    proxy.refuse(false);
    let guard = timeout(LIMIT, waiting).await.expect("is told after the gap");
    // The one request it made then may have found a connection that nobody had used since.
    if let Ok(guard) = guard.expect("ends") {
        guard.release().await.expect("answers");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn release_of_a_peer_is_found_by_asking() {
    let server = Server::shared();
    let (prefix, raw) = (server.prefix(), Raw::connect(&server.url()).await);
    let holder = connected(&server.url(), &prefix).await;
    let waiter = locks(connected(&server.url(), &prefix).await);
    let held = request("billing");
    holder.acquire(&held).await.expect("answers").acquired().expect("is free");
    let (billing, asking) = (key("billing"), AcquireOptions::default().timeout(LIMIT));
    let asking = asking.retry(Retry { retries_max: u32::MAX, ..Retry::default() });
    let (guard, ()) = tokio::join!(waiter.acquire(&billing, &asking), async {
        listeners(&raw, &prefix, 1).await;
        // A peer deletes both entries and says nothing.
        let index = format!("{prefix}id:{}", held.lock_id.as_str());
        raw.ask::<()>(&["DEL", &format!("{prefix}billing"), &index]).await;
    });
    guard.expect("is free").release().await.expect("answers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn one_subscription_serves_all_waiters_and_ends_with_its_backend() {
    let server = Server::start(Settings::volatile()).expect("a server");
    let raw = Raw::connect(&server.url()).await;
    let backend = connected(&server.url(), "syncguard").await;
    listeners(&raw, "syncguard", 0).await;
    let watches = [backend.watch(&key("a")).await, backend.watch(&key("b")).await];
    listeners(&raw, "syncguard", 1).await;
    drop((backend, watches));
    listeners(&raw, "syncguard", 0).await;
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn watching_without_a_server_does_not_hang() {
    let server = Server::start(Settings::volatile()).expect("a server");
    let backend = connected(&server.url(), "syncguard").await;
    server.kill().expect("killed");
    let watch = timeout(LIMIT, backend.watch(&key("billing"))).await.expect("answers in time");
    server.restart().expect("comes back");
    // Subscribing after the gap is news for everybody.
    timeout(LIMIT, watch.freed()).await.expect("is told");
}
