//! What the server says, as the error a caller gets: row by row of the map, by real servers.

use std::time::Duration;

use leasehold_core::{Class, LockCode};
use leasehold_locks::backend::postgres::{Config, Mode, PostgresBackend};
use leasehold_locks::{AcquireOutcome, Error, ExtendRequest, Fence, ListRequest, LockBackend, LookupBy, Ttl};
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::Client;

use super::fixture::{Fixture, acquired, key, lock_id, pool, request, session};

fn over(pool: Pool) -> PostgresBackend {
    PostgresBackend::new(pool, Config { mode: Mode::Exclusive, ..Config::default() })
}

fn code(outcome: Result<AcquireOutcome, Error>) -> LockCode {
    match outcome.expect_err("fails") {
        Error::Store { lock_code, .. } => lock_code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn missing_tables_are_an_invalid_argument_of_every_operation() {
    let fixture = Fixture::empty().await;
    for mode in [Mode::Shared, Mode::Exclusive] {
        let backend = fixture.backend(mode);
        let (billing, lock_id) = (key("billing"), lock_id());
        let codes = [
            backend.acquire(&request("billing")).await.expect_err("no table").lock_code(),
            backend.release(&lock_id).await.expect_err("no table").lock_code(),
            backend
                .extend(&ExtendRequest { lock_id, ttl: Ttl::DEFAULT })
                .await
                .expect_err("no table")
                .lock_code(),
            backend.is_locked(&billing).await.expect_err("no table").lock_code(),
            backend.lookup(LookupBy::Key(&billing)).await.expect_err("no table").lock_code(),
            backend.lookup(LookupBy::LockId(&lock_id)).await.expect_err("no table").lock_code(),
            backend.list(&ListRequest { after: None, len_max: 1 }).await.expect_err("no table").lock_code(),
            backend.acquire_many(&[request("a"), request("b")]).await.expect_err("no table").lock_code(),
            backend.release_many(&[lock_id]).await.expect_err("no table").lock_code(),
        ];
        assert_eq!(codes, [LockCode::InvalidArgument; 9], "{mode:?}");
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn missing_column_is_an_invalid_argument() {
    let fixture = Fixture::start().await;
    let alter = "ALTER TABLE syncguard_fence_counters DROP COLUMN key_debug";
    fixture.outside.batch_execute(alter).await.expect("altered");
    assert_eq!(code(over(fixture.pool()).acquire(&request("a")).await), LockCode::InvalidArgument);
}

/// The key never leaves the process: the backend has no server to send it to.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn key_with_nul_is_refused_before_any_io() {
    let nowhere = over(pool("postgres://nobody@127.0.0.1:1/nothing", 1));
    let nul = key("a\0b");
    let asked = leasehold_locks::AcquireRequest { key: nul.clone(), lock_id: lock_id(), ttl: Ttl::DEFAULT };
    let refusals = [
        nowhere.acquire(&asked).await.expect_err("NUL").code(),
        nowhere.is_locked(&nul).await.expect_err("NUL").code(),
        nowhere.lookup(LookupBy::Key(&nul)).await.expect_err("NUL").code(),
        nowhere.list(&ListRequest { after: Some(nul), len_max: 1 }).await.expect_err("NUL").code(),
    ];
    assert_eq!(refusals, ["key.nul"; 4]);
}

async fn blocker(fixture: &Fixture) -> Client {
    acquired(&over(fixture.pool()), "billing").await;
    let blocker = session(fixture.url()).await;
    // One by one: sent together they would be one transaction, and nobody would see the first.
    for sql in [
        "UPDATE syncguard_locks SET expires_at_ms = 0",
        "BEGIN",
        "SELECT FROM syncguard_fence_counters FOR UPDATE",
    ] {
        blocker.batch_execute(sql).await.expect("blocks");
    }
    blocker
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn timeouts_of_the_server_are_network_timeouts() {
    let fixture = Fixture::start().await;
    let _blocker = blocker(&fixture).await;
    for setting in ["statement_timeout", "lock_timeout"] {
        let url = format!("{}%20-c%20{setting}%3D100", fixture.url());
        let error = over(pool(&url, 1)).acquire(&request("billing")).await.expect_err("is ended");
        assert_eq!(
            (error.lock_code(), error.class()),
            (LockCode::NetworkTimeout, Class::Unavailable),
            "{setting}"
        );
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn own_timeout_in_the_middle_is_an_unknown_outcome() {
    let fixture = Fixture::start().await;
    let blocker = blocker(&fixture).await;
    let timeout = Duration::from_secs(60);
    let config = Config { timeout, mode: Mode::Exclusive, ..Config::default() };
    let backend = PostgresBackend::new(fixture.pool(), config);
    let asked = request("billing");
    let started = tokio::time::Instant::now();
    let (outcome, ()) = tokio::join!(backend.acquire(&asked), async {
        fixture.waits_for(&blocker, 1).await;
        // Only time can end it now. A clock that is stopped jumps to the next timer as soon as nothing else is to be done.
        tokio::time::pause();
    });
    assert!(started.elapsed() >= timeout, "{:?}", started.elapsed());
    let error = outcome.expect_err("blocked");
    assert!(matches!(error, Error::Indeterminate { .. }), "{error:?}");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn ended_session_is_an_unknown_outcome_in_the_peers_words_unavailable() {
    let fixture = Fixture::start().await;
    let _blocker = blocker(&fixture).await;
    let backend = over(fixture.pool());
    let asked = request("billing");
    let ending = async {
        let sql = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
              WHERE application_name = '{}' AND wait_event_type = 'Lock'",
            fixture.name
        );
        while fixture.number(&sql).await == 0 {
            tokio::task::yield_now().await;
        }
    };
    let (outcome, ()) = tokio::join!(backend.acquire(&asked), ending);
    let error = outcome.expect_err("the session was ended");
    assert!(matches!(error, Error::Indeterminate { .. }), "{error:?}");
    assert_eq!(error.lock_code(), LockCode::ServiceUnavailable);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn wrong_users_are_refused() {
    let fixture = Fixture::start().await;
    let role = format!("role_{}", fixture.name);
    fixture
        .outside
        .batch_execute(&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 1"))
        .await
        .expect("a role");
    let as_role = |name: &str| pool(&fixture.url().replace("postgres@", &format!("{name}@")), 1);
    // No such user, no such database.
    assert_eq!(code(over(as_role("nobody_at_all")).acquire(&request("a")).await), LockCode::AuthFailed);
    let (server, options) = fixture.url().split_once('?').expect("options");
    let (server, _) = server.rsplit_once('/').expect("a database");
    let elsewhere = format!("{server}/no_such_database?{options}");
    assert_eq!(code(over(pool(&elsewhere, 1)).acquire(&request("a")).await), LockCode::AuthFailed);
    // A user without rights on the tables.
    let grant = format!("GRANT USAGE ON SCHEMA {} TO {role}", fixture.name);
    fixture.outside.batch_execute(&grant).await.expect("granted");
    let backend = over(as_role(&role));
    assert_eq!(code(backend.acquire(&request("a")).await), LockCode::AuthFailed);
    // The one connection the user may have is taken.
    assert_eq!(code(over(as_role(&role)).acquire(&request("a")).await), LockCode::RateLimited);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn unreachable_server_is_unavailable_and_a_silent_one_a_timeout() {
    let fixture = Fixture::start().await;
    let nobody = over(pool("postgres://postgres@127.0.0.1:1/postgres", 1));
    assert_eq!(code(nobody.acquire(&request("a")).await), LockCode::ServiceUnavailable);
    let server = leasehold_testkit::postgres::Cluster::shared().address();
    let proxy = FaultProxy::start(server).await.expect("a proxy");
    proxy.add(Rule::on(Trigger::Connect).then(Action::Blackhole).always());
    let url = fixture.url().replace(&server.to_string(), &proxy.address().to_string());
    let connection = ConnectionString::parse(&url).expect("url");
    let config = leasehold_txn::Config::new(connection).connect_timeout(Duration::from_millis(50));
    let silent = over(Pool::new(config).expect("pool"));
    for error in [
        silent.acquire(&request("a")).await.expect_err("is silent"),
        silent.is_locked(&key("a")).await.expect_err("is silent"),
    ] {
        assert_eq!(
            (error.lock_code(), error.class()),
            (LockCode::NetworkTimeout, Class::Unavailable),
            "{error:?}"
        );
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn exhausted_pool_is_a_limit() {
    let fixture = Fixture::start().await;
    let _blocker = blocker(&fixture).await;
    let connection = ConnectionString::parse(fixture.url()).expect("url");
    let config = leasehold_txn::Config::new(connection).size_max(1).wait_timeout(Duration::from_millis(100));
    let backend = over(Pool::new(config).expect("pool"));
    // Connected, and the schema looked at: the next call keeps the connection from its beginning.
    acquired(&backend, "before").await;
    let (waiting, other) = (request("billing"), request("other"));
    tokio::select! {
        biased;
        outcome = backend.acquire(&waiting) => panic!("blocked, and yet {outcome:?}"),
        outcome = backend.acquire(&other) => assert_eq!(code(outcome), LockCode::RateLimited),
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn fence_over_the_maximum_changes_nothing() {
    for (mode, function) in
        [(Mode::Shared, true), (Mode::Shared, false), (Mode::Exclusive, true), (Mode::Exclusive, false)]
    {
        let fixture = Fixture::start().await;
        if !function {
            fixture.drop_functions().await;
        }
        let backend = fixture.backend(mode);
        let counter = "INSERT INTO syncguard_fence_counters VALUES
            ('fence:last', 899999999999999), ('fence:over', 900000000000000), ('fence:long', 1000000000000000)";
        fixture.outside.batch_execute(counter).await.expect("counters");
        let last = acquired(&backend, "last").await;
        assert_eq!(last.fence, Fence::MAX);
        let many = backend
            .acquire_many(&[request("over"), request("long"), request("fresh")])
            .await
            .expect("answers");
        assert!(many[2].as_ref().is_ok_and(|outcome| outcome.acquired().is_some()), "{many:?}");
        for (text, together) in ["over", "long"].iter().zip(&many) {
            let alone = backend.acquire(&request(text)).await.expect_err("no fence left");
            assert_eq!(alone.code(), "fence.overflow", "{mode:?} {text}");
            assert_eq!(
                together.as_ref().expect_err("no fence left").code(),
                "fence.overflow",
                "{mode:?} {text}"
            );
        }
        assert_eq!(fixture.number("SELECT count(*) FROM syncguard_locks").await, 2);
        let sum = "SELECT sum(fence)::bigint FROM syncguard_fence_counters WHERE fence_key IN ('fence:over', 'fence:long')";
        assert_eq!(fixture.number(sum).await, 1_900_000_000_000_000);
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn lock_id_of_another_hold_is_refused_and_changes_nothing() {
    let fixture = Fixture::start().await;
    let backend = over(fixture.pool());
    let held = acquired(&backend, "one").await;
    let again = leasehold_locks::AcquireRequest { key: key("two"), lock_id: held.lock_id, ttl: Ttl::DEFAULT };
    assert_eq!(backend.acquire(&again).await.expect_err("its id is used").code(), "lock.id_in_use");
    assert_eq!(fixture.number("SELECT count(*) FROM syncguard_fence_counters").await, 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn row_that_is_no_lock_is_told_apart_and_left_alone() {
    let fixture = Fixture::start().await;
    let row = "INSERT INTO syncguard_locks VALUES ('odd', 'not an id', 9000000000000, 0, 'seven', 'odd')";
    fixture.outside.batch_execute(row).await.expect("a row");
    let backend = over(fixture.pool());
    let error = backend.lookup(LookupBy::Key(&key("odd"))).await.expect_err("not a lock");
    assert_eq!(error.code(), "lock.foreign_entry");
    assert!(!format!("{error} {error:?}").contains("not an id"), "{error:?}");
    assert!(super::fixture::is_held(backend.acquire(&request("odd")).await.expect("answers")));
}
