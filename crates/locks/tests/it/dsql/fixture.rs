//! A simulated cluster of the test's own, backends on it, and a look behind it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_dsql_sim::rules::Level;
use leasehold_locks::backend::dsql::{Config, DsqlBackend};
use leasehold_locks::conformance::Harness;
use leasehold_locks::{AcquireRequest, Fence, Key, LockBackend, LockId, Ttl};
use leasehold_testkit::dsql::Simulated;
use leasehold_txn::{ConnectionString, Policy, Pool};
use tokio_postgres::Client;

/// A clock of the database's own, which stands still: it hides the server's, because its schema comes first in the path and
/// the backend's statements do not name one.
const FROZEN_CLOCK: &str = "
    CREATE TABLE frozen (at timestamptz NOT NULL);
    INSERT INTO frozen VALUES (date_trunc('second', pg_catalog.now()));
    CREATE FUNCTION now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM public.frozen';";

pub(crate) struct Fixture {
    pub(crate) cluster: Simulated,
    /// Sees what is behind the simulator.
    pub(crate) outside: Client,
}

impl Fixture {
    /// A cluster with nothing in it.
    pub(crate) async fn empty(level: Level) -> Self {
        let cluster = Simulated::start(level).await;
        let outside = cluster.behind().await;
        Fixture { cluster, outside }
    }

    /// A cluster with the table, and the server's own clock.
    pub(crate) async fn start(level: Level) -> Self {
        let fixture = Fixture::empty(level).await;
        fixture.backend().setup_schema().await.expect("schema");
        fixture
    }

    /// A cluster with the table, and a clock that stands still.
    pub(crate) async fn frozen(level: Level) -> Self {
        let fixture = Fixture::start(level).await;
        fixture.outside.batch_execute(FROZEN_CLOCK).await.expect("clock");
        fixture
    }

    pub(crate) fn url(&self) -> String {
        // The path is named, or PostgreSQL's own schema would come first by itself and its clock before ours.
        let path = "options=-c%20search_path%3Dpublic%2Cpg_catalog";
        format!("{}&{path}", self.cluster.url())
    }

    pub(crate) fn backend(&self) -> DsqlBackend {
        self.backend_with(Config::default())
    }

    pub(crate) fn backend_with(&self, config: Config) -> DsqlBackend {
        let connection = ConnectionString::parse(&self.url()).expect("url");
        let pool = Pool::new(leasehold_txn::Config::new(connection).size_max(4)).expect("pool");
        DsqlBackend::new(pool, config)
    }

    pub(crate) async fn advance(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).expect("a test is short");
        let sql = format!("UPDATE frozen SET at = at + interval '{micros} microseconds'");
        self.outside.batch_execute(&sql).await.expect("the clock moves");
    }

    /// As if the last hold of the key had had this fence; here it is in the row of the lock.
    pub(crate) async fn count_to(&self, key: &Key, fence: Fence) {
        let sql = "INSERT INTO syncguard_locks (key, expires_at_ms, acquired_at_ms, fence, user_key)
                   VALUES ($1, 0, 0, $2, $1) ON CONFLICT (key) DO UPDATE SET fence = EXCLUDED.fence";
        self.outside.execute(sql, &[&key.as_str(), &fence.to_string()]).await.expect("counts");
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.outside.query_one(sql, &[]).await.expect("a number").get(0)
    }
}

/// Patient enough that a share of refused commits never uses up its attempts.
pub(crate) fn patient() -> Config {
    let retries = Policy::new(30, Duration::from_millis(1), Duration::from_millis(50)).expect("a policy");
    Config { retries, ..Config::default() }
}

pub(crate) fn request(text: &str) -> AcquireRequest {
    let lock_id = LockId::generate().expect("random bytes");
    AcquireRequest { key: Key::parse(text).expect("a key"), lock_id, ttl: Ttl::DEFAULT }
}

/// The harness of the contract, in one of its shapes.
macro_rules! harness {
    ($name:ident, $level:expr, $config:expr, $is_stormy:literal) => {
        pub(crate) struct $name(Fixture);

        #[async_trait]
        impl Harness for $name {
            async fn start() -> Self {
                let fixture = Fixture::frozen($level).await;
                if $is_stormy {
                    fixture.cluster.arm_storm();
                }
                $name(fixture)
            }

            async fn client(&self) -> Arc<dyn LockBackend> {
                Arc::new(self.0.backend_with($config))
            }

            async fn advance(&self, duration: Duration) {
                self.0.advance(duration).await;
            }

            async fn count_to(&self, key: &Key, fence: Fence) {
                self.0.count_to(key, fence).await;
            }

            fn refused_keys(&self) -> &'static [&'static str] {
                &["\u{0}", "a\u{0}b"]
            }

            fn clock_slack(&self) -> Duration {
                Duration::ZERO
            }
        }
    };
}

harness!(Newest, Level::L2026_09, Config::default(), false);
harness!(Oldest, Level::L2025_05, Config::default(), false);
harness!(Conflicting, Level::L2026_09, patient(), true);
