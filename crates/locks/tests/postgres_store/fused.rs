//! Many callers in one statement.

use std::sync::Arc;

use futures_util::future::join_all;
use leasehold_core::LockCode;
use leasehold_locks::backend::postgres::{FusedBackend, FusedConfig, Mode};
use leasehold_locks::{AcquireRequest, LockBackend, ReleaseOutcome};

use crate::fixture::{Fixture, PATIENCE, acquired, fused, is_held, key, request};

const MODES: [Mode; 2] = [Mode::Shared, Mode::Exclusive];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn hundreds_of_callers_each_get_their_own_answer() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fused(&fixture, mode);
        let cycles = (0..300).map(|number| {
            let backend = &backend;
            async move {
                // Every third key is wanted by three.
                let text = format!("key:{}", if number % 3 == 0 { number } else { number - number % 3 });
                let grant = backend.acquire(&request(&text)).await.expect("answers").acquired()?;
                let found =
                    backend.lookup(leasehold_locks::LookupBy::LockId(&grant.lock_id)).await.expect("answers");
                assert_eq!(found.map(|record| record.key), Some(key(&text)));
                Some(grant)
            }
        });
        let grants: Vec<_> = join_all(cycles).await.into_iter().flatten().collect();
        assert_eq!(grants.len(), 100, "one per key");
        let ends = grants.iter().chain(&grants).map(|grant| backend.release(&grant.lock_id));
        let released =
            join_all(ends).await.into_iter().filter(|end| matches!(end, Ok(ReleaseOutcome::Released)));
        assert_eq!(released.count(), 100, "each once, though asked twice");
        backend.close().await;
    }
}

/// One request that the server refuses must not take the others with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn bad_request_fails_alone() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let config = FusedConfig { workers: 1, ..FusedConfig::default() };
        let backend = FusedBackend::new(Arc::new(fixture.backend(mode)), config);
        let used = acquired(&backend, "used").await.lock_id;
        let mut requests: Vec<AcquireRequest> =
            (0..20).map(|number| request(&format!("key:{number}"))).collect();
        requests[7].lock_id = used;
        let outcomes = join_all(requests.iter().map(|request| backend.acquire(request))).await;
        for (number, outcome) in outcomes.into_iter().enumerate() {
            match number {
                7 => {
                    assert_eq!(
                        outcome.expect_err("its id holds another key").lock_code(),
                        LockCode::Internal
                    );
                }
                _ => assert!(outcome.expect("answers").acquired().is_some(), "{mode:?} {number}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn callers_beyond_the_limit_are_refused_at_once() {
    let fixture = Fixture::start().await;
    let config = FusedConfig { waiting_len_max: 1, workers: 1, batch_len_max: 1 };
    let backend = FusedBackend::new(Arc::new(fixture.backend(Mode::Exclusive)), config);
    let requests: Vec<_> = (0..50).map(|number| request(&format!("key:{number}"))).collect();
    let asking = join_all(requests.iter().map(|request| backend.acquire(request)));
    let outcomes = tokio::time::timeout(PATIENCE, asking).await.expect("all answered");
    let (taken, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert!(!taken.is_empty() && !refused.is_empty(), "{} taken, {} refused", taken.len(), refused.len());
    for error in refused {
        assert_eq!(error.expect_err("refused").code(), "lock.rate_limited");
    }
}

/// A batch of the backend itself: repeats find their own hold, held keys are refused, duplicates answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn batch_answers_in_the_order_of_its_requests() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fixture.backend(mode);
        let held = acquired(&backend, "held").await;
        let mine = request("mine");
        let first = backend.acquire(&mine).await.expect("answers").acquired().expect("is free");
        let nul = AcquireRequest { key: key("nul\0"), ..request("nul") };
        let requests =
            [request("held"), mine.clone(), request("fresh"), nul, request("fresh"), request("another")];
        let answers = backend.acquire_many(&requests).await.expect("answers");
        assert!(answers[0].as_ref().is_ok_and(|outcome| is_held(*outcome)), "{answers:?}");
        assert_eq!(answers[1].as_ref().ok().and_then(|outcome| outcome.acquired()), Some(first));
        assert!(answers[2].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()), "{answers:?}");
        assert_eq!(answers[3].as_ref().expect_err("NUL").code(), "key.nul");
        assert!(answers[4].as_ref().is_ok_and(|outcome| is_held(*outcome)), "{answers:?}");
        assert!(answers[5].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()), "{answers:?}");
        let ends = backend
            .release_many(&[held.lock_id, crate::fixture::lock_id(), mine.lock_id])
            .await
            .expect("answers");
        let released: Vec<bool> =
            ends.iter().map(|end| end.as_ref().is_ok_and(|end| end.is_released())).collect();
        assert_eq!(released, [true, false, true], "{mode:?}");
    }
}
