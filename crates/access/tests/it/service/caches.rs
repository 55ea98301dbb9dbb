//! What is remembered, for how long, and what makes it forgotten.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use leasehold_access::{CreatedApiKey, Driver, Permission, Principal};

use super::fixture::{PATIENCE, Server, anyone, header, nobody, over};
use super::probe::Probe;
use crate::assert_refused;

const KEY_LIFETIME: Duration = Duration::from_secs(5 * 60);
const UNKNOWN_LIFETIME: Duration = Duration::from_secs(60);
const PERMISSIONS_LIFETIME: Duration = Duration::from_secs(30);

async fn with_key() -> (Arc<Probe>, Server, CreatedApiKey) {
    let probe = Probe::new();
    let server = over(probe.stores(), Driver::Internal);
    let ann = server.user("ann").await;
    let key = server.key(&ann).await;
    (probe, server, key)
}

fn key_reads(probe: &Probe) -> usize {
    probe.key_reads.swap(0, Ordering::SeqCst)
}

fn permission_reads(probe: &Probe) -> usize {
    probe.permission_reads.swap(0, Ordering::SeqCst)
}

/// Waits until the store was asked for a key so often.
async fn reads_begun(probe: &Probe, count: usize) {
    let begun = async {
        while probe.key_reads.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("the store is asked");
}

#[tokio::test]
async fn key_is_looked_up_once_in_five_minutes() {
    let (probe, server, key) = with_key().await;
    for _ in 0..100 {
        server.sent(&key).await.expect("is valid");
    }
    assert_eq!(key_reads(&probe), 1);
    server.clock.advance(KEY_LIFETIME - Duration::from_millis(1));
    server.sent(&key).await.expect("is valid");
    assert_eq!(key_reads(&probe), 0);
    server.clock.advance(Duration::from_millis(1));
    server.sent(&key).await.expect("is valid");
    assert_eq!(key_reads(&probe), 1);
}

#[tokio::test]
async fn unknown_key_is_looked_up_once_a_minute() {
    let (probe, server, _) = with_key().await;
    let stranger = format!("Bearer qtr-live-{}", "z".repeat(43));
    let refuse = async || server.authenticate(Some(stranger.as_bytes())).await;
    for _ in 0..100 {
        assert_refused!(refuse().await, 401, "api key does not exist");
    }
    assert_eq!(key_reads(&probe), 1);
    server.clock.advance(UNKNOWN_LIFETIME);
    assert_refused!(refuse().await, 401, "api key does not exist");
    assert_eq!(key_reads(&probe), 1);
}

#[tokio::test]
async fn strangers_push_no_known_key_out() {
    let (probe, server, key) = with_key().await;
    server.sent(&key).await.expect("is valid");
    key_reads(&probe);
    for number in 0..25_000 {
        let stranger = format!("Bearer qtr-live-{number:043}");
        server.authenticate(Some(stranger.as_bytes())).await.expect_err("is unknown");
    }
    assert_eq!(key_reads(&probe), 25_000);
    server.sent(&key).await.expect("is valid");
    assert_eq!(key_reads(&probe), 0);
}

#[tokio::test]
async fn malformed_key_is_not_looked_up() {
    let (probe, server, _) = with_key().await;
    server.authenticate(Some(b"Bearer qtr-live-tooshort")).await.expect_err("is no key");
    assert_eq!(key_reads(&probe), 0);
}

#[tokio::test]
async fn those_who_send_a_key_together_share_one_lookup() {
    let (probe, server, key) = with_key().await;
    probe.close_gate();
    let senders: Vec<_> = (0..50)
        .map(|_| {
            let (access, header) = (server.access.clone(), header(&key));
            tokio::spawn(async move { access.authenticate(Some(header.as_bytes())).await })
        })
        .collect();
    reads_begun(&probe, 1).await;
    probe.gate.add_permits(1);
    for sender in senders {
        sender.await.expect("runs").expect("is valid");
    }
    assert_eq!(key_reads(&probe), 1);
}

#[tokio::test]
async fn lookup_that_a_deletion_overtook_lets_nobody_in_afterwards() {
    let (probe, server, key) = with_key().await;
    probe.close_gate();
    let (access, text) = (server.access.clone(), header(&key));
    let before = tokio::spawn(async move { access.authenticate(Some(text.as_bytes())).await });
    reads_begun(&probe, 1).await;
    server.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    // Asked after the deletion, while the lookup from before it is still under way.
    let (access, text) = (server.access.clone(), header(&key));
    let after = tokio::spawn(async move { access.authenticate(Some(text.as_bytes())).await });
    reads_begun(&probe, 2).await;
    probe.gate.add_permits(10);
    before.await.expect("runs").expect("it was valid when it was sent");
    assert_refused!(after.await.expect("runs"), 401, "api key does not exist");
    assert_refused!(server.sent(&key).await, 401, "api key does not exist");
}

#[tokio::test]
async fn deletion_goes_on_when_its_caller_is_gone() {
    let (_, server, key) = with_key().await;
    server.sent(&key).await.expect("is valid, and known from now on");
    let who = anyone();
    let mut deleting = Box::pin(server.delete_api_key(&who, &key.id));
    assert!(futures_util::poll!(&mut deleting).is_pending(), "it is under way");
    drop(deleting);
    server.sent(&key).await.expect("it has not happened yet");
    server.close().await;
    assert_refused!(server.sent(&key).await, 401, "api key does not exist");
}

#[tokio::test(start_paused = true)]
async fn lookup_that_takes_too_long_is_given_up_after_ten_seconds() {
    let (probe, server, key) = with_key().await;
    probe.close_gate();
    let begun = tokio::time::Instant::now();
    assert_refused!(server.sent(&key).await, 401, "api key is invalid");
    assert_eq!(begun.elapsed(), Duration::from_secs(10));
    probe.gate.add_permits(1);
    server.sent(&key).await.expect("the failure is not remembered");
}

#[tokio::test]
async fn store_that_fails_is_asked_again() {
    let (probe, server, key) = with_key().await;
    probe.is_down.store(true, Ordering::SeqCst);
    assert_refused!(server.sent(&key).await, 401, "api key is invalid");
    let answer = server.authorise(&nobody(), "", Permission::QueueLease).await;
    assert_refused!(answer, 453, "authorization check failed");
    probe.is_down.store(false, Ordering::SeqCst);
    server.sent(&key).await.expect("is valid");
    assert_refused!(server.authorise(&nobody(), "", Permission::QueueLease).await, 403, "access denied");
}

#[tokio::test]
async fn known_key_and_permissions_outlast_a_failing_store() {
    let (probe, server, key) = with_key().await;
    let ann = server.sent(&key).await.expect("is valid");
    assert!(server.authorise(&ann, "", Permission::QueueLease).await.is_err());
    probe.is_down.store(true, Ordering::SeqCst);
    server.sent(&key).await.expect("is known");
    assert_refused!(server.authorise(&ann, "", Permission::QueueLease).await, 403, "access denied");
}

#[tokio::test]
async fn store_that_is_down_at_the_start_only_delays_it() {
    let probe = Probe::new();
    probe.is_down.store(true, Ordering::SeqCst);
    let server = over(probe.stores(), Driver::Internal);
    let failed = server.bootstrap().await.expect_err("the store is down");
    assert_eq!((failed.code(), failed.reply_code()), ("access.store_unavailable", 500));
    let answer = server.authorise(&anyone(), "", Permission::UserCreate).await;
    assert_refused!(answer, 453, "authorization check failed");
    assert_eq!(server.authenticate(None).await.expect("needs no store"), Principal::anonymous());
    probe.is_down.store(false, Ordering::SeqCst);
    server.user("ann").await;
}

#[tokio::test]
async fn permissions_are_looked_up_once_in_half_a_minute() {
    let (probe, server, key) = with_key().await;
    let ann = server.sent(&key).await.expect("is valid");
    permission_reads(&probe);
    for _ in 0..100 {
        assert!(server.authorise(&ann, "orders", Permission::QueueLease).await.is_err());
    }
    assert_eq!(permission_reads(&probe), 2, "of the namespace and of the system");
    server.clock.advance(PERMISSIONS_LIFETIME);
    assert!(server.authorise(&ann, "orders", Permission::QueueLease).await.is_err());
    assert_eq!(permission_reads(&probe), 2);
}

#[tokio::test]
async fn two_servers_over_one_store_meet_when_their_memory_ends() {
    let (probe, one, key) = with_key().await;
    let other = over(probe.stores(), Driver::Internal);
    other.sent(&key).await.expect("is valid");
    one.delete_api_key(&anyone(), &key.id).await.expect("deletes");
    assert_refused!(one.sent(&key).await, 401, "api key does not exist");
    other.sent(&key).await.expect("nobody told it");
    other.clock.advance(KEY_LIFETIME);
    assert_refused!(other.sent(&key).await, 401, "api key does not exist");
}
