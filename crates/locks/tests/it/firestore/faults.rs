//! Connections that break at the worst moment, servers that die, callers that give up.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use leasehold_core::{Class, Fence};
use leasehold_locks::backend::firestore::{Config, NestedKeys};
use leasehold_locks::conformance::guards::{SILENCE, survives_a_silent_connection};
use leasehold_locks::{Error, ExtendRequest, Key, LockBackend, LookupBy, ReleaseOutcome};
use leasehold_testkit::firestore::Emulator;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::peer::fields;
use super::{Project, request};

/// Only a commit of acquire sends this.
const ACQUIRE: &[u8] = b"keyDebug";

async fn proxied(project: &Project) -> (FaultProxy, Config) {
    let proxy = FaultProxy::start(Emulator::shared().address()).await.expect("a proxy");
    let config = project.config().emulator(proxy.address().to_string());
    (proxy, config)
}

fn on(request: &[u8], action: Action) -> Rule {
    Rule::on(Trigger::Request(request.to_vec())).then(action)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn lost_reply_of_acquire_is_made_good_without_a_second_fence() {
    for action in [Action::Cut, Action::CutAfterForward, Action::DropReply] {
        let project = Project::new();
        let (proxy, config) = proxied(&project).await;
        let backend = project.backend_with(config).await;
        let broken = proxy.add(on(ACQUIRE, action));
        let asked = request("billing");
        let grant = backend.acquire(&asked).await.unwrap().acquired().unwrap();
        assert_eq!((broken.count(), grant.fence), (1, Fence::FIRST), "{action:?}");
        assert_eq!(backend.acquire(&asked).await.unwrap().acquired(), Some(grant), "{action:?}");
        assert_eq!(backend.release(&asked.lock_id).await.unwrap(), ReleaseOutcome::Released, "{action:?}");
        let next = backend.acquire(&request("billing")).await.unwrap().acquired().unwrap();
        assert_eq!(Ok(next.fence), grant.fence.next(), "{action:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn acquire_that_cannot_look_again_is_indeterminate_and_its_repetition_gets_the_grant() {
    let project = Project::new();
    let (proxy, config) = proxied(&project).await;
    let backend = project.backend_with(config).await;
    let lost = proxy.add(on(ACQUIRE, Action::CutAfterForward));
    proxy.refuse(true);
    let asked = request("billing");
    let error = backend.acquire(&asked).await.unwrap_err();
    assert!(matches!(error, Error::Indeterminate { operation: "acquire", .. }), "{error:?}");
    assert_eq!((error.code(), error.class()), ("lock.unknown_outcome", Class::Indeterminate));
    lost.fired().await;
    proxy.refuse(false);
    let grant = backend.acquire(&asked).await.unwrap().acquired().unwrap();
    assert_eq!((grant.lock_id, grant.fence), (asked.lock_id, Fence::FIRST));
}

/// No query finds a nested key, so it is released by what this process knows of it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn nested_key_whose_acquire_is_indeterminate_can_be_released() {
    let project = Project::new();
    let (proxy, config) = proxied(&project).await;
    let backend = project.backend_with(config.nested_keys(NestedKeys::Allow)).await;
    for number in 0..20 {
        let lost = proxy.add(on(ACQUIRE, Action::DropReply));
        proxy.refuse(true);
        let asked = request(&format!("a/b/{number}"));
        let error = backend.acquire(&asked).await.unwrap_err();
        assert_eq!(error.class(), Class::Indeterminate, "{error:?}");
        lost.fired().await;
        proxy.refuse(false);
        let document = format!("locks/a/b/{number}");
        // The first that the emulator says may be something else, and what it was asked for is then not done.
        if fields(&project.name, &document).is_some() {
            assert_eq!(backend.release(&asked.lock_id).await.unwrap(), ReleaseOutcome::Released);
            assert_eq!(fields(&project.name, &document), None);
            return;
        }
    }
    panic!("none was done");
}

/// The first attempt may still come and give the hold a new end.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn extension_that_may_be_under_way_is_not_told_as_expired() {
    let project = Project::new();
    let (proxy, config) = proxied(&project).await;
    let backend = project.backend_with(config).await;
    let asked = request("billing");
    backend.acquire(&asked).await.unwrap().acquired().unwrap();
    let commit = proxy.add(on(b"locks/billing", Action::Hold));
    let extended = tokio::spawn(async move {
        backend.extend(&ExtendRequest { lock_id: asked.lock_id, ttl: asked.ttl }).await
    });
    commit.fired().await;
    project.clock.advance(asked.ttl.as_duration() + Duration::from_secs(5));
    proxy.cut_all();
    commit.let_go();
    let error = extended.await.unwrap().expect_err("nobody knows");
    assert_eq!(error.class(), Class::Indeterminate, "{error:?}");
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn silent_connection_ends_at_the_timeout() {
    let project = Project::warm().await;
    let (proxy, config) = proxied(&project).await;
    // Before the connection is asked whether it is still there.
    let timeout = Duration::from_secs(25);
    let backend = project.backend_with(config.timeout(timeout)).await;
    let silent = proxy.add(on(ACQUIRE, Action::Blackhole));
    let (asked, begun) = (request("billing"), tokio::time::Instant::now());
    let (outcome, ()) = tokio::join!(backend.acquire(&asked), async {
        silent.fired().await;
        // Only time can end it now. A clock that is stopped jumps to the next timer as soon as nothing else is to be done.
        tokio::time::pause();
    });
    let (error, waited) = (outcome.unwrap_err(), begun.elapsed());
    assert_eq!(error.code(), "lock.unknown_outcome", "{error:?}");
    assert!((timeout..3 * timeout).contains(&waited), "{waited:?}");
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn kept_lock_survives_a_silent_connection() {
    let project = Project::warm().await;
    let (proxy, config) = proxied(&project).await;
    // Before the connection is asked whether it is still there, and beyond the limit of each attempt.
    let backend = project.backend_with(config.timeout(Duration::from_secs(25))).await;
    survives_a_silent_connection(Arc::new(backend), async |_| {
        proxy.add(on(b"locks/billing", Action::Blackhole)).fired().await;
        tokio::time::pause();
        tokio::time::advance(SILENCE).await;
        tokio::time::resume();
    })
    .await;
    assert_eq!(proxy.accepted(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn lost_reply_of_release_is_never_told_as_refused() {
    for action in [Action::Cut, Action::CutAfterForward, Action::DropReply] {
        let project = Project::new();
        let (proxy, config) = proxied(&project).await;
        let backend = project.backend_with(config).await;
        let asked = request("billing");
        backend.acquire(&asked).await.unwrap().acquired().unwrap();
        let broken = proxy.add(on(b"locks/billing", action));
        match backend.release(&asked.lock_id).await {
            Ok(outcome) => assert_eq!(outcome, ReleaseOutcome::Released, "{action:?}"),
            Err(error) => assert_eq!(error.class(), Class::Indeterminate, "{action:?}: {error:?}"),
        }
        broken.fired().await;
        let next = backend.acquire(&request("billing")).await.unwrap();
        assert!(next.acquired().is_some(), "{action:?}: the hold has ended");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn broken_reads_and_extensions_are_made_again() {
    let project = Project::new();
    let (proxy, config) = proxied(&project).await;
    let backend = project.backend_with(config).await;
    let asked = request("billing");
    backend.acquire(&asked).await.unwrap().acquired().unwrap();
    for action in [Action::Cut, Action::CutAfterForward, Action::DropReply] {
        proxy.add(on(b"locks/billing", action));
        assert!(backend.is_locked(&asked.key).await.unwrap(), "{action:?}");
        proxy.add(on(b"locks/billing", action));
        let extend = ExtendRequest { lock_id: asked.lock_id, ttl: asked.ttl };
        backend.extend(&extend).await.unwrap().expires_at().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn killed_server_is_unavailable_and_found_again() {
    let emulator = Emulator::start().unwrap();
    let project = Project::new();
    let config = project.config().emulator(emulator.address().to_string());
    let backend = project.backend_with(config).await;
    let key = Key::parse("billing").unwrap();
    assert!(!backend.is_locked(&key).await.unwrap());
    emulator.kill().unwrap();
    let error = backend.acquire(&request("billing")).await.unwrap_err();
    assert_eq!((error.code(), error.class()), ("lock.unavailable", Class::Unavailable), "{error:?}");
    assert_eq!(backend.is_locked(&key).await.unwrap_err().code(), "lock.unavailable");
    emulator.restart().unwrap();
    assert!(!backend.is_locked(&key).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn operations_dropped_at_any_point_leave_the_client_healthy() {
    let project = Project::new();
    let backend = project.backend().await;
    for polls in 0..10 {
        let asked = request(&format!("dropped:{polls}"));
        poll_times(backend.acquire(&asked), polls).await;
        poll_times(backend.lookup(LookupBy::Key(&asked.key)), polls).await;
        // Whatever became of it: the same id gets it.
        backend.acquire(&asked).await.unwrap().acquired().unwrap();
        poll_times(backend.release(&asked.lock_id), polls).await;
        // The one that was dropped may be done before this one, or after it.
        backend.release(&asked.lock_id).await.unwrap();
        assert!(!backend.is_locked(&asked.key).await.unwrap());
    }
}

#[tokio::test]
#[ignore = "needs the Firestore emulator: cargo xtask test firestore"]
async fn database_that_firestore_rejects_is_an_error_at_connect() {
    let project = Project::new();
    let config = project.config().database("no/such/name");
    let error = leasehold_locks::backend::firestore::FirestoreBackend::connect(&config).await.unwrap_err();
    assert_eq!(error.class(), Class::Rejected, "{error:?}");
}

/// Polls a future so many times, each after it has asked for it, and drops it.
async fn poll_times<T>(future: impl Future<Output = T>, times: usize) {
    let mut future = std::pin::pin!(future);
    let mut left = times;
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Pending if left > 0 => Poll::Pending,
            _ => Poll::Ready(()),
        }
    })
    .await;
}
