//! A schema of the test's own, backends on it, and a look at it from outside.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::Class;
use leasehold_locks::backend::postgres::{
    Config, FusedBackend, FusedConfig, Mode, OptionalColumns, PostgresBackend,
};
use leasehold_locks::conformance::Harness;
use leasehold_locks::{AcquireOutcome, AcquireRequest, Fence, Grant, Key, LockBackend, LockId, Ttl};
use leasehold_testkit::postgres::Cluster;
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::{Client, NoTls};

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The ways the backend can talk to a server: the mode, and whether the schema has the functions.
pub(crate) const FORMS: [(Mode, bool); 4] =
    [(Mode::Shared, true), (Mode::Shared, false), (Mode::Exclusive, true), (Mode::Exclusive, false)];

/// A clock of the schema's own, which stands still: it hides the server's, because the schema comes first in the path
/// and the backend's statements do not name one.
pub(crate) const FROZEN_CLOCK: &str = "
    CREATE TABLE frozen (at timestamptz NOT NULL);
    INSERT INTO frozen VALUES (date_trunc('second', now()));
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM frozen';";

/// The functions that `setup_schema` makes, gone.
pub(crate) const DROP_FUNCTIONS: &str =
    "DROP FUNCTION IF EXISTS syncguard_locks_acquire_3, syncguard_locks_acquires_1, syncguard_locks_release_2,
    syncguard_locks_releases_2, syncguard_locks_extend_1, syncguard_locks_lookup_key_1, syncguard_locks_lookup_id_1";

/// A schema with the tables in it.
pub(crate) struct Fixture {
    url: String,
    /// Of the schema; the server shows it with every session of a backend.
    pub(crate) name: String,
    /// Sees the schema, does not go through the code under test.
    pub(crate) outside: Client,
}

impl Fixture {
    /// The tables, and the server's own clock.
    pub(crate) async fn start() -> Self {
        let fixture = Fixture::empty().await;
        fixture.backend(Mode::Shared).setup_schema(OptionalColumns::Without).await.expect("schema");
        fixture
    }

    /// The tables, and a clock that stands still.
    pub(crate) async fn frozen() -> Self {
        let fixture = Fixture::start().await;
        fixture.outside.batch_execute(FROZEN_CLOCK).await.expect("clock");
        fixture
    }

    /// A schema with nothing in it.
    pub(crate) async fn empty() -> Self {
        let schema = Cluster::shared().schema().await;
        // Named, or it would come first by itself and its clock before ours.
        let url = format!("{}%2Cpg_catalog", schema.url());
        let outside = session(&url).await;
        Fixture { url, name: schema.name().to_owned(), outside }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn pool(&self) -> Pool {
        let connection = ConnectionString::parse(&self.url).expect("url");
        let config = leasehold_txn::Config::new(connection).size_max(4).application_name(&self.name);
        Pool::new(config).expect("pool")
    }

    pub(crate) fn backend(&self, mode: Mode) -> PostgresBackend {
        PostgresBackend::new(self.pool(), Config { mode, ..Config::default() })
    }

    /// Without the functions that make an operation one call.
    pub(crate) async fn drop_functions(&self) {
        self.outside.batch_execute(DROP_FUNCTIONS).await.expect("dropped");
    }

    pub(crate) async fn advance(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).expect("a test is short");
        let sql = format!("UPDATE frozen SET at = at + interval '{micros} microseconds'");
        self.outside.batch_execute(&sql).await.expect("the clock moves");
    }

    /// Until so many sessions wait for this one, or for others that do. PostgreSQL has no event for it; it is looked at until
    /// it is so.
    pub(crate) async fn waits_for(&self, blocker: &Client, waiters: usize) {
        let pid: i32 = blocker.query_one("SELECT pg_backend_pid()", &[]).await.expect("a pid").get(0);
        let sql = format!(
            "WITH RECURSIVE line (pid) AS (
                SELECT {pid} UNION SELECT waiter.pid FROM line, pg_stat_activity AS waiter
                 WHERE line.pid = ANY (pg_blocking_pids(waiter.pid)))
             SELECT count(*) - 1 FROM line"
        );
        let waiting = async {
            while self.number(&sql).await < waiters as i64 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("somebody reaches the window");
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.outside.query_one(sql, &[]).await.expect("a number").get(0)
    }

    pub(crate) async fn text(&self, sql: &str) -> String {
        self.outside.query_one(sql, &[]).await.expect("a text").get(0)
    }
}

pub(crate) async fn session(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}

pub(crate) fn pool(url: &str, size_max: usize) -> Pool {
    let connection = ConnectionString::parse(url).expect("url");
    Pool::new(leasehold_txn::Config::new(connection).size_max(size_max)).expect("pool")
}

pub(crate) fn key(text: &str) -> Key {
    Key::parse(text).expect("a key")
}

pub(crate) fn lock_id() -> LockId {
    LockId::generate().expect("random bytes")
}

pub(crate) fn ttl(millis: u64) -> Ttl {
    Ttl::from_millis(millis).expect("a ttl")
}

pub(crate) fn request(text: &str) -> AcquireRequest {
    AcquireRequest { key: key(text), lock_id: lock_id(), ttl: Ttl::DEFAULT }
}

pub(crate) async fn acquired(backend: &dyn LockBackend, text: &str) -> Grant {
    let outcome = backend.acquire(&request(text)).await.expect("answers");
    outcome.acquired().unwrap_or_else(|| panic!("{text} is free"))
}

/// For a backend whose limit of time a machine that stands still may miss: the same request is made until it is answered.
pub(crate) async fn acquired_in_the_end(backend: &dyn LockBackend, text: &str) -> Grant {
    let asked = request(text);
    let asking = async {
        loop {
            match backend.acquire(&asked).await {
                Ok(outcome) => break outcome.acquired().unwrap_or_else(|| panic!("{text} is free")),
                Err(error) => assert_ne!(error.class(), Class::Rejected, "{error:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.expect("answers in the end")
}

pub(crate) fn is_held(outcome: AcquireOutcome) -> bool {
    matches!(outcome, AcquireOutcome::Held { .. })
}

/// As if the last hold of the key had had this fence.
pub(crate) async fn count_to(outside: &Client, key: &Key, fence: Fence) {
    let sql = "INSERT INTO syncguard_fence_counters (fence_key, fence) VALUES ($1, $2)
               ON CONFLICT (fence_key) DO UPDATE SET fence = EXCLUDED.fence";
    let (fence_key, fence) = (format!("fence:{}", key.as_str()), fence.as_u64() as i64);
    outside.execute(sql, &[&fence_key, &fence]).await.expect("counts");
}

/// The harness of the contract, in one of its shapes.
macro_rules! harness {
    ($name:ident, $prepare:expr, $client:expr) => {
        pub(crate) struct $name(Fixture);

        #[async_trait]
        impl Harness for $name {
            async fn start() -> Self {
                let fixture = Fixture::frozen().await;
                let prepare: fn(&Fixture) -> futures_util::future::BoxFuture<'_, ()> = $prepare;
                prepare(&fixture).await;
                $name(fixture)
            }

            async fn client(&self) -> Arc<dyn LockBackend> {
                let client: fn(&Fixture) -> Arc<dyn LockBackend> = $client;
                client(&self.0)
            }

            async fn advance(&self, duration: Duration) {
                self.0.advance(duration).await;
            }

            async fn count_to(&self, key: &Key, fence: Fence) {
                count_to(&self.0.outside, key, fence).await;
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

harness!(Shared, |_| Box::pin(async {}), |fixture| Arc::new(fixture.backend(Mode::Shared)));
harness!(SharedWithoutFunctions, |fixture| Box::pin(fixture.drop_functions()), |fixture| {
    Arc::new(fixture.backend(Mode::Shared))
});
harness!(ExclusiveWithoutFunctions, |fixture| Box::pin(fixture.drop_functions()), |fixture| {
    Arc::new(fixture.backend(Mode::Exclusive))
});
harness!(FusedWithoutFunctions, |fixture| Box::pin(fixture.drop_functions()), |fixture| {
    Arc::new(fused(fixture, Mode::Shared))
});
harness!(Exclusive, |_| Box::pin(async {}), |fixture| Arc::new(fixture.backend(Mode::Exclusive)));
harness!(FusedShared, |_| Box::pin(async {}), |fixture| Arc::new(fused(fixture, Mode::Shared)));
harness!(FusedExclusive, |_| Box::pin(async {}), |fixture| Arc::new(fused(fixture, Mode::Exclusive)));

pub(crate) fn fused(fixture: &Fixture, mode: Mode) -> FusedBackend {
    FusedBackend::new(Arc::new(fixture.backend(mode)), FusedConfig::default())
}
