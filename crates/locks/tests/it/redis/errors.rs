//! What real servers say, and what we call it.

use std::time::{Duration, Instant};

use leasehold_core::{Class, LockCode};
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_locks::{Error, LockBackend};
use leasehold_testkit::redis::{Server, Settings};

use super::raw::{LIMIT, Raw, config, connected, request};

fn started(settings: Settings) -> Server {
    Server::start(settings).expect("a server")
}

async fn refused(backend: &RedisBackend) -> Error {
    backend.acquire(&request("billing")).await.expect_err("is refused")
}

fn login(server: &Server, user: &str) -> String {
    server.url().replace("redis://", &format!("redis://{user}@"))
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn wrong_password_is_told_and_never_shown() {
    let server = started(Settings::volatile());
    let raw = Raw::connect(&server.url()).await;
    raw.ask::<()>(&["CONFIG", "SET", "requirepass", "hunter2"]).await;
    for url in [server.url(), login(&server, ":wrong")] {
        let error = RedisBackend::connect(&config(&url, "syncguard")).await.expect_err("is refused");
        assert_eq!((error.lock_code(), error.class()), (LockCode::AuthFailed, Class::Rejected), "{error:?}");
        assert!(!format!("{error:?}").contains("wrong@"), "{error:?}");
    }
    let backend = connected(&login(&server, ":hunter2"), "syncguard").await;
    assert!(!format!("{backend:?}").contains("hunter2"), "{backend:?}");
    backend.acquire(&request("billing")).await.expect("answers").acquired().expect("is free");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn missing_permission_is_auth_failed_and_nothing_happens() {
    let server = started(Settings::volatile());
    let raw = Raw::connect(&server.url()).await;
    let rules = ["ACL", "SETUSER", "reader", "on", ">pass", "~*", "+@all", "-incr"];
    raw.ask::<()>(&rules).await;
    let backend = connected(&login(&server, "reader:pass"), "syncguard").await;
    let error = refused(&backend).await;
    assert_eq!(error.lock_code(), LockCode::AuthFailed, "{error:?}");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn release_works_without_the_right_to_publish() {
    let server = started(Settings::volatile());
    let raw = Raw::connect(&server.url()).await;
    let rules = ["ACL", "SETUSER", "silent", "on", ">pass", "~*", "+@all", "resetchannels"];
    raw.ask::<()>(&rules).await;
    let backend = connected(&login(&server, "silent:pass"), "syncguard").await;
    let asked = request("billing");
    backend.acquire(&asked).await.expect("answers").acquired().expect("is free");
    assert!(backend.release(&asked.lock_id).await.expect("answers").is_released());
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn full_memory_is_rate_limited_and_leaves_no_orphan() {
    let server = started(Settings::volatile());
    let raw = Raw::connect(&server.url()).await;
    let backend = connected(&server.url(), "syncguard").await;
    raw.ask::<()>(&["CONFIG", "SET", "maxmemory", "1"]).await;
    let error = refused(&backend).await;
    assert_eq!((error.lock_code(), error.class()), (LockCode::RateLimited, Class::Unavailable), "{error:?}");
    raw.ask::<()>(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(raw.ask::<i64>(&["DBSIZE"]).await, 0);
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn replica_is_unavailable_and_asked_anew_once_it_is_primary() {
    let (primary, replica) = (started(Settings::volatile()), started(Settings::volatile()));
    let raw = Raw::connect(&replica.url()).await;
    let port = primary.address().port().to_string();
    let backend = connected(&replica.url(), "syncguard").await;
    raw.ask::<()>(&["REPLICAOF", "127.0.0.1", &port]).await;
    let error = refused(&backend).await;
    assert_eq!(error.lock_code(), LockCode::ServiceUnavailable, "{error:?}");
    raw.ask::<()>(&["REPLICAOF", "NO", "ONE"]).await;
    backend.acquire(&request("billing")).await.expect("answers").acquired().expect("is free");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn busy_server_is_rate_limited_or_late_and_then_works() {
    let server = started(Settings::volatile().with("busy-reply-threshold", "50"));
    let backend = RedisBackend::connect(&RedisConfig {
        timeout: Duration::from_secs(10),
        ..config(&server.url(), "syncguard")
    })
    .await
    .expect("Redis is there");
    let (raw, killer) = (Raw::connect(&server.url()).await, Raw::connect(&server.url()).await);
    let endless = tokio::spawn(async move { raw.try_ask::<()>(&["EVAL", "while true do end", "0"]).await });
    let started = Instant::now();
    let error = loop {
        match backend.acquire(&request(&format!("k{:?}", started.elapsed()))).await {
            Err(error) => break error,
            Ok(_) => assert!(started.elapsed() < LIMIT, "never became busy"),
        }
    };
    assert_eq!(error.lock_code(), LockCode::RateLimited, "{error:?}");
    killer.ask::<()>(&["SCRIPT", "KILL"]).await;
    endless.await.expect("ends").expect_err("was killed");
    backend.acquire(&request("billing")).await.expect("answers").acquired().expect("is free");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn too_many_clients_are_unavailable() {
    let server = started(Settings::volatile());
    let raw = Raw::connect(&server.url()).await;
    // Who is in stays in. From the start it would keep out this one too, while whoever saw the server start is still leaving.
    raw.ask::<()>(&["CONFIG", "SET", "maxclients", "1"]).await;
    let error = RedisBackend::connect(&config(&server.url(), "syncguard")).await.expect_err("is full");
    assert_eq!(error.class(), Class::Unavailable, "{error:?}");
    assert_eq!(raw.ask::<String>(&["PING"]).await, "PONG");
}

#[tokio::test]
#[ignore = "needs Redis: cargo xtask test redis"]
async fn unusable_configuration_is_refused_before_connecting() {
    let refused = |config: RedisConfig| RedisBackend::new(&config).expect_err("is refused").code();
    assert_eq!(refused(RedisConfig::new("mysql://127.0.0.1")), "lock.bad_config");
    assert_eq!(refused(RedisConfig::new("redis-cluster://127.0.0.1")), "lock.bad_config");
    let zero = RedisConfig { timeout: Duration::ZERO, ..RedisConfig::new("redis://127.0.0.1") };
    assert_eq!(refused(zero), "lock.bad_config");
    let untrusting = RedisConfig {
        tls_root_cert: Some("/nowhere/ca.pem".into()),
        ..RedisConfig::new("rediss://127.0.0.1")
    };
    assert_eq!(refused(untrusting), "lock.bad_config");
}
