//! Behind PgBouncer in transaction mode: every transaction may meet another session.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use leasehold_locks::backend::postgres::{Config, Mode, Notifications, OptionalColumns, PostgresBackend};
use leasehold_locks::conformance::Harness;
use leasehold_locks::{AcquireOptions, Fence, Key, LockBackend, Locks, ReleaseOutcome, Retry};
use leasehold_testkit::pgbouncer::PgBouncer;
use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::Client;

use super::fixture::{
    DROP_FUNCTIONS, FROZEN_CLOCK, PATIENCE, acquired, count_to, key, pool, request, session,
};

/// A database of the test's own, reached through the pooler. A schema would need `search_path`, which a pooler forgets.
pub(crate) struct Pooled {
    database: Database,
    outside: Client,
}

impl Pooled {
    async fn open() -> Self {
        let database = Cluster::shared().database().await;
        let outside = session(database.url()).await;
        // Sessions of the pooler begin with it: ours before the server's own clock.
        let path = format!("ALTER DATABASE {} SET search_path = public, pg_catalog", database.name());
        outside.batch_execute(&path).await.expect("a path");
        let direct = PostgresBackend::new(pool(database.url(), 1), Config::default());
        direct.setup_schema(OptionalColumns::Without).await.expect("schema");
        Pooled { database, outside }
    }

    fn pool(&self) -> Pool {
        let url = PgBouncer::shared().url(self.database.name());
        let connection = ConnectionString::parse(&url).expect("url");
        Pool::new(leasehold_txn::Config::new(connection).size_max(4).behind_pooler(true)).expect("pool")
    }

    fn backend(&self, mode: Mode) -> PostgresBackend {
        PostgresBackend::new(self.pool(), Config { mode, ..Config::default() })
    }
}

#[async_trait]
impl Harness for Pooled {
    async fn start() -> Self {
        let pooled = Pooled::open().await;
        pooled.outside.batch_execute(FROZEN_CLOCK).await.expect("clock");
        pooled
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(self.backend(Mode::Shared))
    }

    async fn advance(&self, duration: Duration) {
        let sql = format!("UPDATE frozen SET at = at + interval '{} microseconds'", duration.as_micros());
        self.outside.batch_execute(&sql).await.expect("the clock moves");
    }

    async fn count_to(&self, key: &Key, fence: Fence) {
        count_to(&self.outside, key, fence).await;
    }

    fn refused_keys(&self) -> &'static [&'static str] {
        &["\u{0}", "a\u{0}b"]
    }

    fn clock_slack(&self) -> Duration {
        Duration::ZERO
    }
}

leasehold_locks::lock_conformance!(Pooled, [ignore = "needs PostgreSQL: cargo xtask test postgres"], [store waiting]);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn many_clients_share_few_sessions_in_every_mode() {
    let pooled = Pooled::open().await;
    for (mode, function) in
        [(Mode::Shared, true), (Mode::Exclusive, true), (Mode::Shared, false), (Mode::Exclusive, false)]
    {
        if !function {
            pooled.outside.batch_execute(DROP_FUNCTIONS).await.expect("dropped");
        }
        let backends: Vec<_> = (0..4).map(|_| Arc::new(pooled.backend(mode))).collect();
        let cycles = (0..40).map(|number| {
            let backend = backends[number % backends.len()].clone();
            async move {
                let text = format!("{mode:?}:{function}:{number}");
                let grant = acquired(&*backend, &text).await;
                assert_eq!(backend.release(&grant.lock_id).await.expect("answers"), ReleaseOutcome::Released);
                grant.fence.as_u64()
            }
        });
        assert_eq!(join_all(cycles).await, [1; 40], "{mode:?} {function}");
    }
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{}'", pooled.database.name());
    let sessions: i64 = pooled.outside.query_one(&sql, &[]).await.expect("answers").get(0);
    assert!(sessions <= 3 + 2, "{sessions} sessions: the pooler was not in the way");
}

/// The level is named with every transaction: the session's default is not ours to set.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn level_of_the_sessions_behind_does_not_matter() {
    let pooled = Pooled::open().await;
    let level =
        format!("ALTER DATABASE {} SET default_transaction_isolation = serializable", pooled.database.name());
    pooled.outside.batch_execute(&level).await.expect("a level");
    let backend = pooled.backend(Mode::Exclusive);
    for round in 0..10 {
        let text = format!("contended:{round}");
        let outcomes = join_all((0..8).map(|_| async { backend.acquire(&request(&text)).await })).await;
        let won = outcomes.into_iter().map(|outcome| outcome.expect("no serialization failure"));
        assert_eq!(won.filter(|outcome| outcome.acquired().is_some()).count(), 1, "round {round}");
    }
}

/// Waiters hear of a release past the pooler.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask test postgres"]
async fn news_come_past_the_pooler() {
    let pooled = Pooled::open().await;
    let backend = || {
        let notifications = Notifications::Via(pool(pooled.database.url(), 1));
        PostgresBackend::new(pooled.pool(), Config { notifications, ..Config::default() })
    };
    let (holder, waiter) = (backend(), Locks::new(backend()));
    let held = acquired(&holder, "billing").await;
    let slow = Retry { delay: Duration::from_secs(600), ..Retry::default() };
    let options = AcquireOptions::default().timeout(PATIENCE).retry(slow);
    let billing = key("billing");
    let (guard, ()) = tokio::join!(waiter.acquire(&billing, &options), async {
        super::news::somebody_waits(&pooled.outside).await;
        holder.release(&held.lock_id).await.expect("answers");
    });
    guard.expect("hears of it").release().await.expect("answers");
}
