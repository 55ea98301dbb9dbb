//! A simulated cluster of the test's own, stores on it, and a look behind it.

use std::time::Duration;

use async_trait::async_trait;
use leasehold_access::Stores;
use leasehold_access::conformance::Harness;
use leasehold_access::store::dsql::{Config, DsqlStore};
use leasehold_core::ManualClock;
use leasehold_dsql_sim::rules::Level;
use leasehold_testkit::dsql::Simulated;
use leasehold_txn::{ConnectionString, Dialect, Policy, Pool};

/// A cluster with nothing in it.
pub(crate) struct Fixture {
    pub(crate) cluster: Simulated,
    pub(crate) clock: ManualClock,
}

impl Fixture {
    pub(crate) async fn start(level: Level) -> Self {
        Fixture { cluster: Simulated::start(level).await, clock: ManualClock::default() }
    }

    /// With the tables, which take longer to be made than a case may allow its store to take.
    pub(crate) async fn with_tables(level: Level) -> Self {
        let fixture = Fixture::start(level).await;
        let listed = fixture.stores(Config::default()).namespaces.expect("keeps them").list("", 1).await;
        assert!(listed.expect("the tables are made").is_empty());
        fixture
    }

    /// As another server would have them: over a pool of their own.
    pub(crate) fn stores(&self, config: Config) -> Stores {
        let connection = ConnectionString::parse(&self.cluster.plain_url()).expect("url");
        let pool = leasehold_txn::Config::new(connection).dialect(Dialect::DSQL).size_max(2);
        DsqlStore::new(Pool::new(pool).expect("pool"), config).stores()
    }
}

/// Patient enough that a share of refused commits never uses up its attempts.
fn patient() -> Config {
    let retries = Policy::new(30, Duration::from_millis(1), Duration::from_millis(50)).expect("a policy");
    Config { retries, ..Config::default() }
}

/// The harness of the contract, in one of its shapes.
macro_rules! harness {
    ($name:ident, $level:expr, $config:expr, $is_stormy:literal) => {
        pub(crate) struct $name(Fixture);

        #[async_trait]
        impl Harness for $name {
            async fn start() -> Self {
                let fixture = Fixture::with_tables($level).await;
                if $is_stormy {
                    fixture.cluster.arm_storm();
                }
                $name(fixture)
            }

            async fn stores(&self) -> Stores {
                self.0.stores($config)
            }
        }
    };
}

harness!(Newest, Level::L2026_09, Config::default(), false);
harness!(Oldest, Level::L2025_05, Config::default(), false);
harness!(Conflicting, Level::L2026_09, patient(), true);
