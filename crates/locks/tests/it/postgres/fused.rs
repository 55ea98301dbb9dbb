//! Many callers in one statement.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use leasehold_core::Class;
use leasehold_locks::backend::postgres::{Config, FusedBackend, FusedConfig, Mode, PostgresBackend};
use leasehold_locks::{AcquireRequest, Error, LockBackend, Locks, Refusal, ReleaseOutcome, Ttl};
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

use super::fixture::{
    Fixture, PATIENCE, acquired, acquired_in_the_end, fused, is_held, key, lock_id, pool, request, session,
};

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

/// One request that the server refuses must not take the others with it, in small turns and in large ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn bad_request_fails_alone() {
    for (mode, len) in MODES.into_iter().flat_map(|mode| [(mode, 10), (mode, 20)]) {
        let fixture = Fixture::start().await;
        let backend = fused(&fixture, mode);
        let used = acquired(&backend, "used").await.lock_id;
        let mut requests: Vec<AcquireRequest> =
            (0..len).map(|number| request(&format!("key:{number}"))).collect();
        requests[7].lock_id = used;
        let outcomes = join_all(requests.iter().map(|request| backend.acquire(request))).await;
        for (number, outcome) in outcomes.into_iter().enumerate() {
            match number {
                7 => {
                    assert_eq!(outcome.expect_err("its id holds another key").code(), "lock.id_in_use");
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
    let config = FusedConfig { waiting_len_max: 1, turns_max: 1, batch_len_max: 1 };
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

/// Whatever waits is one turn and one commit. On one thread all ask before the first turn begins.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn small_turn_acquires_and_releases_and_answers_each() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fused(&fixture, mode);
        let (held, ended) = (acquired(&backend, "held").await, acquired(&backend, "ended").await);
        let mine = request("mine");
        let first = backend.acquire(&mine).await.expect("answers").acquired().expect("is free");
        let nul = AcquireRequest { key: key("nul\0"), ..request("nul") };
        let requests =
            [request("held"), mine.clone(), request("fresh"), nul, request("fresh"), request("other")];
        let acquires = join_all(requests.iter().map(|request| backend.acquire(request)));
        let lock_ids = [ended.lock_id, lock_id(), ended.lock_id];
        let releases = join_all(lock_ids.iter().map(|lock_id| backend.release(lock_id)));
        let (acquires, releases) = tokio::join!(acquires, releases);
        assert!(acquires[0].as_ref().is_ok_and(|outcome| is_held(*outcome)), "{acquires:?}");
        assert_eq!(acquires[1].as_ref().ok().and_then(|outcome| outcome.acquired()), Some(first));
        assert!(acquires[2].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()), "{acquires:?}");
        assert_eq!(acquires[3].as_ref().expect_err("NUL").code(), "key.nul");
        assert!(acquires[4].as_ref().is_ok_and(|outcome| is_held(*outcome)), "{acquires:?}");
        let released: Vec<bool> =
            releases.iter().map(|end| end.as_ref().is_ok_and(|end| end.is_released())).collect();
        assert_eq!(released, [true, false, false], "{mode:?}");
        let commits =
            "SELECT count(DISTINCT xmin::text) FROM syncguard_locks WHERE user_key IN ('fresh', 'other')";
        assert_eq!(fixture.number(commits).await, 1, "{mode:?}");
        assert!(backend.release(&held.lock_id).await.expect("answers").is_released());
    }
}

/// A row that somebody has locked keeps those waiting who want it, and nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn key_that_waits_in_the_database_holds_up_no_other() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = Arc::new(fused(&fixture, mode));
        let counted = acquired(&*backend, "stuck").await;
        assert!(backend.release(&counted.lock_id).await.expect("answers").is_released());
        let blocker = session(fixture.url()).await;
        blocker.batch_execute("BEGIN; SELECT FROM syncguard_fence_counters FOR UPDATE").await.expect("locks");
        // More of them than there may be turns, or requests in a turn.
        let stuck: Vec<_> = (0..200)
            .map(|_| {
                let backend = backend.clone();
                tokio::spawn(async move { backend.acquire(&request("stuck")).await })
            })
            .collect();
        fixture.waits_for(&blocker, 1).await;
        let others = async {
            for round in 0..20 {
                let keys = (0..5).map(|number| format!("free:{round}:{number}"));
                let pairs = keys.map(|text| {
                    let backend = &backend;
                    async move {
                        let grant = acquired(&**backend, &text).await;
                        assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
                    }
                });
                join_all(pairs).await;
            }
        };
        tokio::time::timeout(PATIENCE, others).await.expect("are not held up");
        assert!(stuck.iter().all(|stuck| !stuck.is_finished()), "{mode:?}");
        blocker.batch_execute("ROLLBACK").await.expect("lets go");
        let mut granted = 0;
        for stuck in stuck {
            let answer = tokio::time::timeout(PATIENCE, stuck).await.expect("goes on").expect("ends");
            granted += usize::from(answer.expect("answers").acquired().is_some());
        }
        assert_eq!(granted, 1, "{mode:?}");
    }
}

/// Who has a lock's row deleted and waits for its counter is in a ring with whoever has the counter and waits for the row.
/// On one thread all three ask before the first turn begins, so that the release and the acquire are in one.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn turn_that_releases_a_key_does_not_wait_for_its_counter() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fused(&fixture, mode);
        let hold = acquired(&backend, "contended").await;
        let blocker = session(fixture.url()).await;
        blocker.batch_execute("BEGIN; SELECT FROM syncguard_fence_counters FOR UPDATE").await.expect("locks");
        let (alone, asked) = (request("alone"), request("contended"));
        let turn = async {
            tokio::join!(backend.acquire(&alone), backend.release(&hold.lock_id), backend.acquire(&asked))
        };
        let (_, released, asked) = tokio::time::timeout(PATIENCE, turn).await.expect("waits for nobody");
        assert!(released.expect("answers").is_released(), "{mode:?}");
        assert!(is_held(asked.expect("answers")), "{mode:?}: it asked before the release");
    }
}

/// Whoever gave up and releases is not overtaken by its own acquire, however long that waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn release_follows_an_acquire_that_was_given_up() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fused(&fixture, mode);
        for text in ["stuck", "beside"] {
            let counted = acquired(&backend, text).await;
            assert!(backend.release(&counted.lock_id).await.expect("answers").is_released());
        }
        let blocker = session(fixture.url()).await;
        blocker.batch_execute("BEGIN; SELECT FROM syncguard_fence_counters FOR UPDATE").await.expect("locks");
        // Somebody else asks all the time: who is alone is not in a turn.
        let beside = request("beside");
        let (asked, beside) = (request("stuck"), backend.acquire(&beside));
        tokio::pin!(beside);
        tokio::select! {
            biased;
            answer = &mut beside => panic!("{answer:?} though its counter is locked"),
            answer = backend.acquire(&asked) => panic!("{answer:?} though its counter is locked"),
            () = fixture.waits_for(&blocker, 2) => {}
        }
        let release = async {
            let released = backend.release(&asked.lock_id).await.expect("answers");
            assert!(released.is_released(), "{mode:?}: {released:?}");
        };
        let free = async {
            // Turns go on, and the release does not go with them.
            acquired(&backend, "other").await;
            acquired(&backend, "another").await;
            blocker.batch_execute("ROLLBACK").await.expect("lets go");
        };
        let all = async { tokio::join!(release, free, beside).2 };
        let beside = tokio::time::timeout(PATIENCE, all).await.expect("ends").expect("answers");
        assert!(beside.acquired().is_some(), "{mode:?}");
    }
}

/// Nobody knows what became of a turn whose answer was lost, and each is told so of its own request.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lost_turn_is_unknown_for_everyone_in_it() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let server = Cluster::shared().address();
        let proxy = FaultProxy::start(server).await.expect("a proxy");
        let url = fixture.url().replace(&server.to_string(), &proxy.address().to_string());
        let through = PostgresBackend::new(pool(&url, 1), Config { mode, ..Config::default() });
        let backend = FusedBackend::new(Arc::new(through), FusedConfig::default());
        let ending = acquired(&backend, "ending").await;
        let (one, two) = (request("one"), request("two"));
        let lost = proxy.add(Rule::on(Trigger::Request(one.lock_id.as_str().into())).then(Action::DropReply));
        // Who comes first is alone and in no turn. On one thread the others are all there before it begins.
        let alone = request("alone");
        let (_, first, second, end) = tokio::join!(
            backend.acquire(&alone),
            backend.acquire(&one),
            backend.acquire(&two),
            backend.release(&ending.lock_id)
        );
        lost.fired().await;
        for (operation, error) in [
            ("acquire", first.expect_err("lost")),
            ("acquire", second.expect_err("lost")),
            ("release", end.expect_err("lost")),
        ] {
            assert!(
                matches!(&error, Error::Indeterminate { operation: told, .. } if *told == operation),
                "{error:?}"
            );
        }
        // Asked again, it turns out that all of it had happened, once.
        for asked in [&one, &two] {
            let grant = backend.acquire(asked).await.expect("answers").acquired().expect("its own");
            assert_eq!(grant.fence.as_u64(), 1, "{mode:?}");
        }
        let again = backend.release(&ending.lock_id).await.expect("answers");
        assert_eq!(again, ReleaseOutcome::Refused(Refusal::NotFound), "{mode:?}");
    }
}

/// Turns end with the runtime they began on; the backend does not.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn backend_outlives_the_runtime_it_was_made_on() {
    let fixture = Fixture::start().await;
    let plain = Arc::new(fixture.backend(Mode::Shared));
    let elsewhere = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async { FusedBackend::new(plain, FusedConfig::default()) })
    });
    let backend = elsewhere.join().expect("made");
    let grants = join_all((0..5).map(|number| {
        let backend = &backend;
        async move { acquired(backend, &format!("key:{number}")).await }
    }));
    for grant in tokio::time::timeout(PATIENCE, grants).await.expect("all answered") {
        assert!(backend.release(&grant.lock_id).await.expect("answers").is_released());
    }
}

/// What the server says of the whole statement it would say of each: asked one by one, everyone would wait for all before it.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn timeout_of_a_turn_is_everyones() {
    for (mode, len) in MODES.into_iter().flat_map(|mode| [(mode, 12), (mode, 24)]) {
        let fixture = Fixture::start().await;
        let server = Cluster::shared().address();
        let proxy = FaultProxy::start(server).await.expect("a proxy");
        let url = fixture.url().replace(&server.to_string(), &proxy.address().to_string());
        let url = format!("{url}%20-c%20statement_timeout%3D1000");
        let timed = PostgresBackend::new(pool(&url, 4), Config { mode, ..Config::default() });
        let backend = FusedBackend::new(Arc::new(timed), FusedConfig::default());
        acquired_in_the_end(&backend, "first").await;
        let blocker = session(fixture.url()).await;
        blocker.batch_execute("BEGIN; LOCK TABLE syncguard_locks").await.expect("locks");
        let requests: Vec<_> = (0..len).map(|number| request(&format!("key:{number}"))).collect();
        // Does nothing but count.
        let count = Rule::on(Trigger::Reply(b"57014".to_vec())).then(Action::Delay(Duration::ZERO));
        let timeouts = proxy.add(count.always());
        for answer in join_all(requests.iter().map(|request| backend.acquire(request))).await {
            let error = answer.expect_err("the table is locked");
            assert_eq!((error.code(), error.class()), ("lock.timeout", Class::Unavailable), "{error:?}");
        }
        let timeouts = timeouts.count();
        assert!((1..len / 2).contains(&timeouts), "{mode:?} {len}: {timeouts} statements timed out");
    }
}

/// One operation has one limit of time, wherever it spends it: who was not sent by then never is.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn caller_waits_no_longer_than_one_operation_may_take() {
    let fixture = Fixture::start().await;
    let timeout = Duration::from_secs(2);
    let impatient = PostgresBackend::new(fixture.pool(), Config { timeout, ..Config::default() });
    let config = FusedConfig { turns_max: 1, batch_len_max: 1, ..FusedConfig::default() };
    let backend = FusedBackend::new(Arc::new(impatient), config);
    acquired_in_the_end(&backend, "first").await;
    let blocker = session(fixture.url()).await;
    blocker.batch_execute("BEGIN; LOCK TABLE syncguard_fence_counters").await.expect("locks");
    let requests: Vec<_> = (0..20).map(|number| request(&format!("key:{number}"))).collect();
    let started = Instant::now();
    let answers = join_all(requests.iter().map(|request| backend.acquire(request))).await;
    assert!(started.elapsed() < 10 * timeout, "{:?}", started.elapsed());
    let last = answers.into_iter().next_back().expect("twenty").expect_err("the table is locked");
    assert_eq!((last.code(), last.class()), ("lock.timeout", Class::Unavailable), "{last:?}");
    blocker.batch_execute("ROLLBACK").await.expect("lets go");
    // Whoever was before it in the line is done with: the last one was not sent.
    acquired_in_the_end(&backend, "after").await;
    backend.close().await;
    let sent = "SELECT count(*) FROM syncguard_fence_counters WHERE key_debug = 'key:19'";
    assert_eq!(fixture.number(sent).await, 0);
}

/// A waiter that gave up before its turn came is not asked for.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn acquire_that_was_given_up_before_its_turn_is_not_sent() {
    let fixture = Fixture::start().await;
    let config = FusedConfig { turns_max: 1, batch_len_max: 1, ..FusedConfig::default() };
    let backend = Arc::new(FusedBackend::new(Arc::new(fixture.backend(Mode::Exclusive)), config));
    let locks = Locks::with_config(backend.clone(), leasehold_locks::Config::default());
    for text in ["alone", "turn"] {
        let counted = acquired(&*backend, text).await;
        assert!(backend.release(&counted.lock_id).await.expect("answers").is_released());
    }
    let blocker = session(fixture.url()).await;
    blocker.batch_execute("BEGIN; SELECT FROM syncguard_fence_counters FOR UPDATE").await.expect("locks");
    let (alone, turn) = (request("alone"), request("turn"));
    let stuck = async { tokio::join!(backend.acquire(&alone), backend.acquire(&turn)) };
    tokio::pin!(stuck);
    tokio::select! {
        biased;
        answers = &mut stuck => panic!("{answers:?} though their counters are locked"),
        () = fixture.waits_for(&blocker, 2) => {}
    }
    let given_up = tokio::time::timeout(Duration::ZERO, locks.try_acquire(&key("left"), Ttl::DEFAULT)).await;
    given_up.expect_err("its turn has not come");
    blocker.batch_execute("ROLLBACK").await.expect("lets go");
    let (after, beside) = (request("after"), request("beside"));
    // In turns after the one that left.
    let later = async { tokio::join!(backend.acquire(&after), backend.acquire(&beside)) };
    let (answers, later) = tokio::join!(stuck, later);
    assert!(answers.0.is_ok() && answers.1.is_ok() && later.0.is_ok() && later.1.is_ok());
    let sent = "SELECT count(*) FROM syncguard_fence_counters WHERE key_debug = 'left'";
    assert_eq!(fixture.number(sent).await, 0);
}

/// One id for several keys: no answer goes to another request than its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn batch_under_one_lock_id_grants_one_key() {
    for mode in MODES {
        let fixture = Fixture::start().await;
        let backend = fixture.backend(mode);
        acquired(&backend, "held").await;
        let first = request("held");
        let requests =
            ["held", "free", "other"].map(|text| AcquireRequest { key: key(text), ..first.clone() });
        let answers = backend.acquire_many(&requests).await.expect("answers");
        assert!(answers[0].as_ref().is_ok_and(|outcome| is_held(*outcome)), "{mode:?}: {answers:?}");
        assert!(
            answers[1].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()),
            "{mode:?}: {answers:?}"
        );
        assert_eq!(answers[2].as_ref().expect_err("its id is used").code(), "lock.id_in_use", "{mode:?}");
        // Used before the batch began: whoever else is in it is granted all the same.
        let again = [request("beside"), AcquireRequest { key: key("again"), ..first.clone() }];
        let answers = backend.acquire_many(&again).await.expect("answers");
        assert!(
            answers[0].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()),
            "{mode:?}: {answers:?}"
        );
        assert_eq!(answers[1].as_ref().expect_err("its id is used").code(), "lock.id_in_use", "{mode:?}");
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
        let ends = backend.release_many(&[held.lock_id, lock_id(), mine.lock_id]).await.expect("answers");
        let released: Vec<bool> =
            ends.iter().map(|end| end.as_ref().is_ok_and(|end| end.is_released())).collect();
        assert_eq!(released, [true, false, true], "{mode:?}");
    }
}
