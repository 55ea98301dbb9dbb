//! Connections that break at the worst moment, servers that die, callers that leave.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::backend::postgres::{Config, Mode, OptionalColumns, PostgresBackend};
use leasehold_locks::conformance::guards::{SILENCE, survives_a_silent_connection};
use leasehold_locks::{Error, LockBackend, Refusal, ReleaseOutcome};
use leasehold_testkit::postgres::{Cluster, Settings};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use parking_lot::Mutex;

use super::fixture::{FORMS, Fixture, acquired, pool, request};

/// A backend whose connections go through a proxy, and one whose do not.
struct Wires {
    _fixture: Fixture,
    proxy: FaultProxy,
    through: PostgresBackend,
    direct: PostgresBackend,
}

impl Wires {
    async fn lay(mode: Mode, function: bool) -> Self {
        let fixture = Fixture::start().await;
        if !function {
            fixture.drop_functions().await;
        }
        let server = Cluster::shared().address();
        let proxy = FaultProxy::start(server).await.expect("a proxy");
        let url = fixture.url().replace(&server.to_string(), &proxy.address().to_string());
        let through = PostgresBackend::new(pool(&url, 1), Config { mode, ..Config::default() });
        let direct = fixture.backend(mode);
        // Prepared already, so that a lock id travels in one message only.
        let grant = acquired(&through, "warm").await;
        through.release(&grant.lock_id).await.expect("answers");
        Wires { _fixture: fixture, proxy, through, direct }
    }
}

fn is_indeterminate<T: std::fmt::Debug>(outcome: Result<T, Error>) {
    let error = outcome.expect_err("the reply was lost");
    assert!(matches!(error, Error::Indeterminate { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_reply_of_an_acquire_is_resolved_by_repeating_it() {
    for (mode, function) in FORMS {
        for action in [Action::DropReply, Action::Cut, Action::CutAfterForward] {
            let wires = Wires::lay(mode, function).await;
            let asked = request("billing");
            let rule = Rule::on(Trigger::Request(asked.lock_id.as_str().into())).then(action);
            let lost = wires.proxy.add(rule);
            is_indeterminate(wires.through.acquire(&asked).await);
            lost.fired().await;
            let grant = wires.through.acquire(&asked).await.expect("answers").acquired().expect("is its own");
            assert_eq!((grant.lock_id, grant.fence.as_u64()), (asked.lock_id, 1), "{mode:?} {action:?}");
            assert_eq!(wires.direct.acquire(&asked).await.expect("answers").acquired(), Some(grant));
            assert!(wires.direct.acquire(&request("billing")).await.expect("answers").acquired().is_none());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_reply_of_a_release_is_resolved_by_repeating_it() {
    for (mode, function) in FORMS {
        let wires = Wires::lay(mode, function).await;
        let grant = acquired(&wires.through, "billing").await;
        let rule = Rule::on(Trigger::Request(grant.lock_id.as_str().into())).then(Action::DropReply);
        let lost = wires.proxy.add(rule);
        is_indeterminate(wires.through.release(&grant.lock_id).await);
        lost.fired().await;
        let again = wires.through.release(&grant.lock_id).await.expect("answers");
        assert_eq!(again, ReleaseOutcome::Refused(Refusal::NotFound));
    }
}

/// Of a pool with one connection, for its place too must come free.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn kept_lock_survives_a_silent_connection() {
    let Wires { _fixture, proxy, through, direct } = Wires::lay(Mode::Shared, true).await;
    survives_a_silent_connection(Arc::new(through), async |lock_id| {
        let asked = Trigger::Request(lock_id.as_str().into());
        proxy.add(Rule::on(asked).then(Action::Blackhole)).fired().await;
        tokio::time::pause();
        tokio::time::advance(SILENCE).await;
        tokio::time::resume();
    })
    .await;
    acquired(&direct, "billing").await;
}

/// Reads that are lost are just lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_reply_of_a_lookup_is_unavailable() {
    let wires = Wires::lay(Mode::Shared, true).await;
    let key = super::fixture::key("looked-for");
    assert!(!wires.through.is_locked(&key).await.expect("answers"));
    wires.proxy.add(Rule::on(Trigger::Request(b"looked-for".to_vec())).then(Action::DropReply));
    let error = wires.through.is_locked(&key).await.expect_err("the reply was lost");
    assert_eq!(error.code(), "lock.unavailable");
}

/// A caller that leaves in the middle leaves a backend that works, and a connection that is nobody else's transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn dropped_calls_leave_the_backend_healthy() {
    for (mode, function) in FORMS {
        let fixture = Fixture::start().await;
        if !function {
            fixture.drop_functions().await;
        }
        let backend = PostgresBackend::new(pool(fixture.url(), 2), Config { mode, ..Config::default() });
        for round in 0..40 {
            let asked = request(&format!("dropped:{round}"));
            let _ = tokio::time::timeout(Duration::from_micros(50 * round), backend.acquire(&asked)).await;
            let _ = tokio::time::timeout(Duration::from_micros(25 * round), backend.release(&asked.lock_id))
                .await;
        }
        let grant = acquired(&backend, "after").await;
        assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
        // No connection went back with a transaction open, which would hide what it writes.
        let counter =
            fixture.number("SELECT fence FROM syncguard_fence_counters WHERE fence_key = 'fence:after'");
        assert_eq!(counter.await, 1);
    }
}

/// `kill -9` in the middle of the work: every fence that was answered stays below every later one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn fences_grow_across_kills_of_the_server() {
    const KEYS: usize = 4;
    let cluster = Arc::new(Cluster::start(Settings::durable()).expect("a cluster"));
    let url = cluster.url("postgres");
    let backend = |mode| Arc::new(PostgresBackend::new(pool(&url, 4), Config { mode, ..Config::default() }));
    backend(Mode::Shared).setup_schema(OptionalColumns::Without).await.expect("schema");
    let granted: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
    for round in 0..3 {
        let mode = if round % 2 == 0 { Mode::Exclusive } else { Mode::Shared };
        let backend = backend(mode);
        let (told, mut busy) = tokio::sync::mpsc::unbounded_channel();
        let work: Vec<_> = (0..KEYS)
            .map(|number| {
                let (backend, granted, told) = (backend.clone(), granted.clone(), told.clone());
                tokio::spawn(async move {
                    let text = format!("key:{number}");
                    // Until the server is gone.
                    while let Ok(outcome) = backend.acquire(&request(&text)).await {
                        let Some(grant) = outcome.acquired() else { continue };
                        let fence = grant.fence.as_u64();
                        let last = granted.lock().insert(text.clone(), fence);
                        assert!(last.is_none_or(|last| last < fence), "{fence} after {last:?}");
                        let _ = told.send(());
                        if backend.release(&grant.lock_id).await.is_err() {
                            break;
                        }
                    }
                })
            })
            .collect();
        for _ in 0..100 {
            busy.recv().await.expect("work goes on");
        }
        let killing = cluster.clone();
        tokio::task::spawn_blocking(move || killing.kill()).await.expect("runs").expect("killed");
        for worker in work {
            worker.await.expect("fences grew");
        }
        let restarting = cluster.clone();
        tokio::task::spawn_blocking(move || restarting.restart()).await.expect("runs").expect("restarted");
        // Holds survive too; theirs are ended here, as their ttl would.
        let outside = super::fixture::session(&url).await;
        outside.batch_execute("UPDATE syncguard_locks SET expires_at_ms = 0").await.expect("ended");
    }
    let survivor = backend(Mode::Exclusive);
    let granted = granted.lock().clone();
    for (text, last) in granted {
        assert!(acquired(&*survivor, &text).await.fence.as_u64() > last, "{text}");
    }
}
