//! A simulated cluster of the test's own, stores on it, and a look behind it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_dsql_sim::rules::Level;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::dsql::{Config, DsqlQueues, DsqlStore};
use leasehold_queue::{QueueStore, Store};
use leasehold_testkit::dsql::Simulated;
use leasehold_txn::{ConnectionString, Dialect, Policy, Pool};

pub(crate) use crate::line::{Line, at, partition};

/// A cluster with nothing in it.
pub(crate) struct Fixture {
    pub(crate) cluster: Simulated,
}

impl Fixture {
    pub(crate) async fn start(level: Level) -> Self {
        Fixture { cluster: Simulated::start(level).await }
    }

    /// Makes the tables, which takes longer than a case may allow its store to take.
    async fn warm_up(&self) {
        Line::open(&self.store(), "warm").await.owner.close().await;
        let queues = DsqlQueues::new(self.pool(), &Config::default());
        assert_eq!(queues.get(&"warm".parse().expect("a name")).await.expect("get"), None);
    }

    pub(crate) fn pool(&self) -> Pool {
        let connection = ConnectionString::parse(&self.cluster.plain_url()).expect("url");
        let config = leasehold_txn::Config::new(connection).dialect(Dialect::DSQL).size_max(3);
        Pool::new(config).expect("pool")
    }

    pub(crate) fn store(&self) -> DsqlStore {
        self.store_with(Config::default())
    }

    pub(crate) fn store_with(&self, config: Config) -> DsqlStore {
        DsqlStore::new(self.pool(), config)
    }
}

/// Patient enough that a share of refused commits never uses up its attempts.
pub(crate) fn patient() -> Config {
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
                let fixture = Fixture::start($level).await;
                fixture.warm_up().await;
                if $is_stormy {
                    fixture.cluster.arm_storm();
                }
                $name(fixture)
            }

            fn is_durable(&self) -> bool {
                true
            }

            fn shortened(&self) -> u32 {
                5
            }

            fn store(&self) -> Arc<dyn Store> {
                Arc::new(DsqlStore::new(self.0.pool(), $config))
            }

            fn queues(&self) -> Arc<dyn QueueStore> {
                Arc::new(DsqlQueues::new(self.0.pool(), &$config))
            }

            async fn restart(self: Box<Self>) -> Box<dyn Harness> {
                self
            }
        }
    };
}

harness!(Newest, Level::L2026_09, Config::default(), false);
harness!(Oldest, Level::L2025_05, Config::default(), false);
harness!(Conflicting, Level::L2026_09, patient(), true);
