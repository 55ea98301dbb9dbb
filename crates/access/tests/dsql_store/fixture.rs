//! A simulated cluster of the test's own, stores on it, and a look behind it.

use std::time::Duration;

use leasehold_access::Stores;
use leasehold_access::conformance::Harness;
use leasehold_access::store::dsql::{Config, DsqlStore};
use leasehold_core::ManualClock;
use leasehold_dsql_sim::faults::Rule;
use leasehold_dsql_sim::rules::Level;
use leasehold_dsql_sim::{Config as SimulatorConfig, Simulator};
use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_txn::{ConnectionString, Dialect, Policy, Pool};
use tokio_postgres::{Client, NoTls};

/// A cluster with nothing in it.
pub(crate) struct Fixture {
    pub(crate) simulator: Simulator,
    pub(crate) clock: ManualClock,
    database: Database,
}

impl Fixture {
    pub(crate) async fn start(level: Level) -> Self {
        let database = Cluster::shared().database().await;
        let mut config = SimulatorConfig::new(database.url().parse().expect("a URL"));
        config.cluster.level = level;
        let simulator = Simulator::start(config).await.expect("the simulator starts");
        Fixture { simulator, clock: ManualClock::default(), database }
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
        let url = format!("postgres://admin:any@{}/postgres", self.simulator.address());
        let connection = ConnectionString::parse(&url).expect("url");
        let pool = leasehold_txn::Config::new(connection).dialect(Dialect::DSQL).size_max(2);
        DsqlStore::new(Pool::new(pool).expect("pool"), config).stores()
    }

    pub(crate) fn arm(&self, json: &str) {
        self.simulator.faults().arm(Rule::read(json).expect("a rule"));
    }

    /// Sees what is behind the simulator.
    pub(crate) async fn outside(&self) -> Client {
        let (client, connection) =
            tokio_postgres::connect(self.database.url(), NoTls).await.expect("connects");
        tokio::spawn(connection);
        client
    }
}

/// Patient enough that a share of refused commits never uses up its attempts.
fn patient() -> Config {
    let retries = Policy::new(30, Duration::from_millis(1), Duration::from_millis(50)).expect("a policy");
    Config { retries, ..Config::default() }
}

/// The harness of the contract, in one of its shapes.
macro_rules! harness {
    ($name:ident, $level:expr, $config:expr, $faults:expr) => {
        pub(crate) struct $name(Fixture);

        impl Harness for $name {
            async fn start() -> Self {
                let fixture = Fixture::with_tables($level).await;
                let faults: &[&str] = &$faults;
                for fault in faults {
                    fixture.arm(fault);
                }
                $name(fixture)
            }

            async fn stores(&self) -> Stores {
                self.0.stores($config)
            }
        }
    };
}

harness!(Newest, Level::L2026_09, Config::default(), []);
harness!(Oldest, Level::L2025_05, Config::default(), []);
harness!(
    Conflicting,
    Level::L2026_09,
    patient(),
    [
        r#"{"name": "data", "action": "conflict_at_commit", "probability": 0.1}"#,
        r#"{"name": "schema", "action": "schema_conflict_at_commit", "probability": 0.05}"#,
        r#"{"name": "early", "action": "schema_conflict_at_statement", "probability": 0.02}"#,
    ]
);
