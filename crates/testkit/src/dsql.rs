//! A simulated DSQL cluster of the test's own, and a look behind it.

use leasehold_dsql_sim::faults::Rule;
use leasehold_dsql_sim::rules::Level;
use leasehold_dsql_sim::{Config, Simulator};
use tokio_postgres::{Client, NoTls};

use crate::postgres::{Cluster, Database};

/// Refusals at every place where a cluster may refuse, often enough that a hundred operations meet each.
const STORM: [&str; 3] = [
    r#"{"name": "data", "action": "conflict_at_commit", "probability": 0.1}"#,
    r#"{"name": "schema", "action": "schema_conflict_at_commit", "probability": 0.05}"#,
    r#"{"name": "early", "action": "schema_conflict_at_statement", "probability": 0.02}"#,
];

/// A cluster with nothing in it, on a database of its own that goes with it.
pub struct Simulated {
    simulator: Simulator,
    behind: Database,
}

impl Simulated {
    /// Starts a cluster that has what was released by then.
    ///
    /// # Panics
    /// If it cannot be started: then there is nothing to test.
    pub async fn start(level: Level) -> Self {
        Self::on(Cluster::shared().database().await, level).await
    }

    /// Starts a cluster that has all that was released, on a database that may have something in it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub async fn newest_on(behind: Database) -> Self {
        Self::on(behind, Level::L2026_09).await
    }

    /// Starts a cluster on a database that may have something in it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub async fn on(behind: Database, level: Level) -> Self {
        let mut config = Config::new(behind.url().parse().expect("the URL of a database of ours"));
        config.cluster.level = level;
        let simulator = Simulator::start(config).await.expect("the simulator starts");
        Simulated { simulator, behind }
    }

    /// The simulator: its faults, its counters, its address.
    #[must_use]
    pub const fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// As users of DSQL write it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("dsql://admin:any@{}/postgres?sslmode=disable", self.simulator.address())
    }

    /// For a client that knows of PostgreSQL only. With a password, or those who know of DSQL would make a token.
    #[must_use]
    pub fn plain_url(&self) -> String {
        format!("postgres://admin:any@{}/postgres", self.simulator.address())
    }

    /// The database behind the simulator.
    #[must_use]
    pub fn url_behind(&self) -> &str {
        self.behind.url()
    }

    /// Stops the simulator, and leaves what it made.
    pub fn into_behind(self) -> Database {
        self.behind
    }

    /// Sees and does behind the simulator what cannot be brought about through it.
    ///
    /// # Panics
    /// If PostgreSQL cannot be reached.
    pub async fn behind(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(self.behind.url(), NoTls).await.expect("connects");
        tokio::spawn(connection);
        client
    }

    /// Arms a fault.
    ///
    /// # Panics
    /// If it is none.
    pub fn arm(&self, json: &str) {
        self.simulator.faults().arm(Rule::read(json).expect("a rule"));
    }

    /// Arms a share of refusals of every kind.
    pub fn arm_storm(&self) {
        for rule in STORM {
            self.arm(rule);
        }
    }

    /// Disarms every fault.
    pub fn disarm(&self) {
        self.simulator.faults().clear();
    }

    /// How often the armed faults struck.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.simulator.faults().report().iter().map(|rule| rule.fired).sum()
    }
}
