//! Ways to a connection, and to none.

use std::time::{Duration, Instant};

use leasehold_core::{Class, Deadline};
use leasehold_testkit::postgres::Cluster;
use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};
use leasehold_txn::{Config, Error, Pipeline, Policy, Pool, Registry, Statement, Step, Values};
use tokio_postgres::types::Type;

use crate::fixture::{Fixture, PATIENCE, TEST, eager};

const PING: Statement<'_> = Statement::read(TEST, "SELECT 1");

async fn ping(pool: &Pool) -> Result<(), Error> {
    PING.query(pool, &eager(1), &[]).await.map(drop)
}

fn pool(url: &str) -> Pool {
    Pool::new(Config::new(url.parse().unwrap()).connect_timeout(Duration::from_secs(2))).unwrap()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn pairs_and_urls_and_sockets_connect() {
    let cluster = Cluster::shared();
    let (address, user, folder) = (cluster.address(), cluster.user(), cluster.socket_dir().display());
    for text in [
        cluster.url("postgres"),
        format!("host={} port={} user={user} dbname=postgres", address.ip(), address.port()),
        format!("host={folder} port={} user={user} dbname=postgres", address.port()),
        // The first host does not answer, the second does.
        format!("postgres://{user}@127.0.0.1:1,{address}/postgres"),
    ] {
        ping(&pool(&text)).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn refused_user_or_database_is_not_tried_again() {
    let cluster = Cluster::shared();
    for (url, sqlstate) in [
        (format!("postgres://nobody_here@{}/postgres", cluster.address()), "28000"),
        (cluster.url("no_such_database"), "3D000"),
    ] {
        let error = ping(&pool(&url)).await.unwrap_err();
        assert_eq!(
            (error.code(), error.class(), error.sqlstate()),
            ("txn.access_denied", Class::Rejected, Some(sqlstate))
        );
    }
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn full_server_is_tried_again_and_then_reported() {
    let fixture = Fixture::start().await;
    let role = format!("full_{}", std::process::id());
    fixture.outside.batch_execute(&format!("CREATE ROLE {role} LOGIN CONNECTION LIMIT 0")).await.unwrap();
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let error = ping(&pool(&format!("postgres://{role}@{}/postgres?sslmode=disable", proxy.address())))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.class(), error.sqlstate()),
        ("txn.connection_limit", Class::Unavailable, Some("53300"))
    );
    assert_eq!(proxy.accepted(), 5, "0, 100, 200, 400 and 800 ms");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn server_that_comes_back_is_met_by_a_later_attempt() {
    let fixture = Fixture::start().await;
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    let cut = proxy.add(Rule::on(Trigger::Connect).then(Action::Cut).times(3));
    let pool = Pool::new(fixture.config_through(&proxy)).unwrap();
    let started = Instant::now();
    ping(&pool).await.unwrap();
    assert_eq!((cut.count(), proxy.accepted()), (3, 4));
    assert!(started.elapsed() >= Duration::from_millis(100 + 200 + 400));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn absent_server_is_reported_after_five_attempts_or_at_the_deadline() {
    let nowhere = pool("postgres://me@127.0.0.1:1/x?sslmode=disable");
    let error = ping(&nowhere).await.unwrap_err();
    assert!(matches!(error, Error::ConnectFailed { attempts: 5, .. }), "{error:?}");
    assert_eq!((error.code(), error.class()), ("txn.connect_failed", Class::Unavailable));

    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    proxy.add(Rule::on(Trigger::Connect).then(Action::Cut).always());
    let cut = pool(&format!("postgres://me@{}/x?sslmode=disable", proxy.address()));
    let policy = Policy::none().until(Deadline::after(Duration::from_millis(250)));
    let error = PING.query(&cut, &policy, &[]).await.unwrap_err();
    assert_eq!(error.code(), "txn.deadline_passed");
    assert!(proxy.accepted() <= 2, "{} attempts: the third is due after 300 ms", proxy.accepted());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn silent_server_runs_into_the_connect_timeout() {
    let proxy = FaultProxy::start(Cluster::shared().address()).await.unwrap();
    proxy.add(Rule::on(Trigger::Connect).then(Action::Blackhole).always());
    let url = format!("postgres://me@{}/x", proxy.address());
    let pool =
        Pool::new(Config::new(url.parse().unwrap()).connect_timeout(Duration::from_millis(50))).unwrap();
    let error = ping(&pool).await.unwrap_err();
    assert!(matches!(error, Error::ConnectTimeout { attempts: 5, .. }), "{error:?}");
    assert_eq!((error.code(), error.class()), ("txn.connect_timeout", Class::Unavailable));
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn exhausted_pool_says_so_and_recovers() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1).wait_timeout(Duration::from_millis(50))).unwrap();
    let (held, release) = tokio::sync::oneshot::channel::<()>();
    let held = std::sync::Mutex::new(Some(held));
    let release = tokio::sync::Mutex::new(release);
    let (held, release) = (&held, &release);
    let policy = eager(1);
    let holder = leasehold_txn::run::<_, std::convert::Infallible, _>(&pool, TEST, &policy, |tx| {
        Box::pin(async move {
            tx.query("SELECT 1", &[]).await?;
            let _ = (&mut *release.lock().await).await;
            Ok(())
        })
    });
    let other = async {
        // The holder is polled first: it has the connection, or is opening it.
        let error = ping(&pool).await.unwrap_err();
        assert_eq!((error.code(), error.class()), ("txn.pool_exhausted", Class::Unavailable));
        assert_eq!(error.to_string(), "no connection of the pool (1 at most) came free within 50ms");
        drop(held.lock().unwrap().take());
    };
    let (outcome, ()) = futures_util::future::join(holder, other).await;
    outcome.unwrap();
    ping(&pool).await.unwrap();
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn closed_pool_refuses_and_leaves_no_session() {
    let fixture = Fixture::start().await;
    let pool = fixture.pool();
    ping(&pool).await.unwrap();
    pool.close().await;
    let error = ping(&pool).await.unwrap_err();
    assert_eq!((error.code(), error.class()), ("txn.pool_closed", Class::Unavailable));
    fixture.no_session("true").await;
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn last_user_of_a_shared_pool_closes_its_sessions() {
    let fixture = Fixture::start().await;
    let registry = Registry::new();
    let (first, second) =
        (registry.pool(fixture.config()).unwrap(), registry.pool(fixture.config()).unwrap());
    ping(&first).await.unwrap();
    assert_eq!(second.size(), 1, "both see the same connection");
    drop(first);
    ping(&second).await.unwrap();
    drop(second);
    fixture.no_session("true").await;
    assert!(registry.is_empty());
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_past_its_lifetime_is_replaced() {
    // The shortest there is; it ends up to a tenth earlier, so that not all connections of a pool end together.
    let lifetime = Duration::from_secs(1);
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1).lifetime_max(lifetime)).unwrap();
    let pid = Statement::read(TEST, "SELECT pg_backend_pid()");
    let session = async || -> i32 { pid.query(&pool, &eager(1), &[]).await.unwrap()[0].get(0) };
    let started = Instant::now();
    let first = session().await;
    let replaced = async {
        while session().await == first {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, replaced).await.expect("the connection stays for ever");
    assert!(started.elapsed() >= lifetime.mul_f64(0.9), "replaced after {:?}", started.elapsed());
    assert_eq!(pool.size(), 1);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn connection_that_died_idle_is_replaced_unnoticed() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1)).unwrap();
    let pid = Statement::read(TEST, "SELECT pg_backend_pid()");
    let first: i32 = pid.query(&pool, &eager(1), &[]).await.unwrap()[0].get(0);
    fixture.outside.execute("SELECT pg_terminate_backend($1)", &[&first]).await.unwrap();
    fixture.no_session("true").await;
    // The goodbye is on its way to us; a statement that is faster fails, and nothing worse.
    let replaced = async {
        loop {
            match pid.query(&pool, &eager(1), &[]).await {
                Ok(rows) => break rows[0].get::<_, i32>(0),
                Err(error) => assert_eq!(error.code(), "txn.connection_lost"),
            }
        }
    };
    assert_ne!(tokio::time::timeout(PATIENCE, replaced).await.unwrap(), first);
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn statement_cache_is_bounded() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1).statements_max(10)).unwrap();
    let mut most = 0;
    for n in 0..600 {
        let sql = format!("SELECT {n}");
        Statement::read(TEST, &sql).query(&pool, &eager(1), &[]).await.unwrap();
        let kept = Statement::read(TEST, "SELECT count(*) FROM pg_prepared_statements");
        most = most.max(kept.query(&pool, &eager(1), &[]).await.unwrap()[0].get::<_, i64>(0));
    }
    assert!((10..300).contains(&most), "{most} statements kept");
}

/// More statements than places: nothing is prepared over and over, and every answer is right.
#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn pipelines_beyond_the_cache_are_sent_unprepared() {
    let fixture = Fixture::start().await;
    let pool = Pool::new(fixture.config().size_max(1).statements_max(4)).unwrap();
    for round in 0..20_i64 {
        for n in 0..20_i64 {
            let sql = format!("SELECT $1 + {n}");
            let values: Values<'_> = &[(&round, Type::INT8)];
            let rows =
                Pipeline::read(TEST, &[Step::new(&sql, values)]).query(&pool, &eager(1)).await.unwrap();
            assert_eq!(rows[0][0].get::<_, i64>(0), round + n);
        }
    }
    let kept =
        "SELECT count(*), count(*) FILTER (WHERE statement ~ '[+] [0-3]$') FROM pg_prepared_statements";
    let rows = Statement::read(TEST, kept).query(&pool, &eager(1), &[]).await.unwrap();
    let (kept, first) = (rows[0].get::<_, i64>(0), rows[0].get::<_, i64>(1));
    assert!(kept <= 5, "{kept} statements are kept");
    assert!(first >= 2, "{first} of the four that came first: none is rarer than those that came later");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn no_form_of_pool_or_error_shows_the_password() {
    let address = Cluster::shared().address();
    let config = Config::new(format!("postgres://nobody_here:hunter2@{address}/x").parse().unwrap());
    let mut shown = format!("{config:?}");
    let pool = Pool::new(config).unwrap();
    let error = ping(&pool).await.unwrap_err();
    shown += &format!("{pool:?} {error} {error:?} {:?}", error.database_error());
    assert!(!shown.contains("hunter2"), "{shown}");
}
