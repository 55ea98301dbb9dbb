//! Waiting without asking: news of a release, and life without them.

use std::time::Duration;

use leasehold_locks::backend::postgres::{Config, Mode, Notifications, PostgresBackend};
use leasehold_locks::{AcquireOptions, LockBackend, Locks, Retry};
use tokio_postgres::{AsyncMessage, Client, NoTls};

use super::fixture::{Fixture, PATIENCE, acquired, key, request};

/// Asks again so late that only news can end the wait.
fn hearing() -> AcquireOptions {
    let slow = Retry { delay: Duration::from_secs(600), ..Retry::default() };
    AcquireOptions::default().timeout(PATIENCE).retry(slow)
}

/// Ready once a waiter has announced itself: it says so on a channel that anybody can listen to.
pub(crate) async fn somebody_waits(outside: &Client) {
    let table: u32 =
        outside.query_one("SELECT 'syncguard_locks'::regclass::oid", &[]).await.expect("a table").get(0);
    let database: String = outside.query_one("SELECT current_database()", &[]).await.expect("a name").get(0);
    let url = leasehold_testkit::postgres::Cluster::shared().url(&database);
    let mut channel = Channel::open(&url, &format!("leasehold_wanted_{table}")).await;
    // What begins to listen asks who waits; that is not an answer.
    while channel.next().await == "?" {}
}

/// One channel, heard from outside.
struct Channel {
    _client: Client,
    heard: tokio::sync::mpsc::UnboundedReceiver<String>,
}

impl Channel {
    async fn open(url: &str, name: &str) -> Self {
        let (client, mut connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
        let (hearing, heard) = tokio::sync::mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) =
                std::future::poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(notification) = message {
                    let _ = hearing.send(notification.payload().to_owned());
                }
            }
        });
        client.batch_execute(&format!("LISTEN {name}")).await.expect("listens");
        Channel { _client: client, heard }
    }

    async fn next(&mut self) -> String {
        tokio::time::timeout(PATIENCE, self.heard.recv()).await.expect("is said").expect("is open")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn waiter_hears_of_a_release_elsewhere() {
    let fixture = Fixture::start().await;
    let (holder, waiter) = (fixture.backend(Mode::Shared), Locks::new(fixture.backend(Mode::Shared)));
    let held = acquired(&holder, "billing").await;
    let (billing, options) = (key("billing"), hearing());
    let (guard, ()) = tokio::join!(waiter.acquire(&billing, &options), async {
        somebody_waits(&fixture.outside).await;
        holder.release(&held.lock_id).await.expect("answers");
    });
    assert_eq!(Ok(guard.expect("hears of it").fence()), held.fence.next());
}

/// The announcement crosses the release: the holder did not know yet that somebody waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn waiter_that_comes_at_the_same_moment_hears_of_it_too() {
    let fixture = Fixture::start().await;
    let (holder, waiter) = (fixture.backend(Mode::Exclusive), Locks::new(fixture.backend(Mode::Exclusive)));
    for round in 0..20 {
        let text = format!("crossing:{round}");
        let held = acquired(&holder, &text).await;
        let (crossing, options) = (key(&text), hearing());
        let (guard, released) =
            tokio::join!(waiter.acquire(&crossing, &options), holder.release(&held.lock_id));
        released.expect("answers");
        guard.expect("hears of it").release().await.expect("answers");
    }
}

/// A line of processes: each hears of the one before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_is_passed_along_a_line_of_processes() {
    let fixture = Fixture::start().await;
    let waiters: Vec<Locks> = (0..4).map(|_| Locks::new(fixture.backend(Mode::Shared))).collect();
    let (billing, options) = (key("billing"), hearing());
    let cycles = waiters.iter().map(|locks| async {
        for _ in 0..5 {
            let guard = locks.acquire(&billing, &options).await.expect("its turn comes");
            guard.release().await.expect("answers");
        }
    });
    futures_util::future::join_all(cycles).await;
    assert_eq!(fixture.number("SELECT fence FROM syncguard_fence_counters").await, 20);
}

/// The connection that listens breaks: it comes back, looks again, and says again what is wanted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn broken_listener_comes_back() {
    let fixture = Fixture::start().await;
    let (holder, waiter) = (fixture.backend(Mode::Shared), Locks::new(fixture.backend(Mode::Shared)));
    let held = acquired(&holder, "billing").await;
    let (billing, options) = (key("billing"), hearing());
    let (guard, ()) = tokio::join!(waiter.acquire(&billing, &options), async {
        somebody_waits(&fixture.outside).await;
        let listeners = format!(
            "FROM pg_stat_activity
              WHERE application_name = '{}' AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%')",
            fixture.name
        );
        // The holder begins to listen when it holds, and nobody waits for it to.
        let counted = format!("SELECT count(*) {listeners}");
        let both_listen = async {
            while fixture.number(&counted).await < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, both_listen).await.expect("both processes listen");
        let ended = format!("SELECT count(pg_terminate_backend(pid)) {listeners}");
        assert!(fixture.number(&ended).await >= 2, "both are ended");
        holder.release(&held.lock_id).await.expect("answers");
    });
    guard.expect("asks again when the connection is back").release().await.expect("answers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn without_news_waiters_ask() {
    let fixture = Fixture::start().await;
    let backend = || {
        let config = Config { notifications: Notifications::Off, ..Config::default() };
        PostgresBackend::new(fixture.pool(), config)
    };
    let (holder, waiter) = (backend(), Locks::new(backend()));
    let held = acquired(&holder, "billing").await;
    let (billing, options) = (key("billing"), AcquireOptions::default().timeout(PATIENCE));
    let (guard, released) = tokio::join!(waiter.acquire(&billing, &options), holder.release(&held.lock_id));
    released.expect("answers");
    guard.expect("asks again").release().await.expect("answers");
    let listeners = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' AND query LIKE 'LISTEN%'",
        fixture.name
    );
    assert_eq!(fixture.number(&listeners).await, 0);
}

/// A release that nobody waits for says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_nobody_waits_for_is_silent() {
    let fixture = Fixture::start().await;
    let backend = fixture.backend(Mode::Exclusive);
    let table: u32 = fixture
        .outside
        .query_one("SELECT 'syncguard_locks'::regclass::oid", &[])
        .await
        .expect("a table")
        .get(0);
    let channel = format!("leasehold_freed_{table}");
    let mut freed = Channel::open(fixture.url(), &channel).await;
    for _ in 0..5 {
        let grant = acquired(&backend, "quiet").await;
        backend.release(&grant.lock_id).await.expect("answers");
    }
    assert!(backend.acquire(&request("quiet")).await.expect("answers").acquired().is_some());
    fixture.outside.batch_execute(&format!("NOTIFY {channel}, 'the end'")).await.expect("is said");
    assert_eq!(freed.next().await, "the end");
}
