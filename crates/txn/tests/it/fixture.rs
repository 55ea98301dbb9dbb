//! A schema of the test's own, pools on it, and a look at it from outside.

use std::time::Duration;

use leasehold_testkit::postgres::{Cluster, Schema};
use leasehold_testkit::proxy::FaultProxy;
use leasehold_txn::{Config, ConnectionString, Dialect, Isolation, Operation, Policy, Pool};
use tokio_postgres::{Client, NoTls};

/// The operation of tests that do not care for its name.
pub(crate) const TEST: Operation = Operation::new("test");

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Snapshot isolation with retries, as DSQL has it, on PostgreSQL.
pub(crate) const SNAPSHOT: Dialect =
    Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };

pub(crate) struct Fixture {
    schema: Schema,
    /// Sees the schema, does not go through the code under test.
    pub(crate) outside: Client,
}

impl Fixture {
    /// A schema with the tables `left` and `right`, which every transaction is to write both or neither, and
    /// `counter`, with one row.
    pub(crate) async fn start() -> Self {
        let schema = Cluster::shared().schema().await;
        let (outside, connection) = tokio_postgres::connect(schema.url(), NoTls).await.expect("connect");
        tokio::spawn(connection);
        outside
            .batch_execute(
                "CREATE TABLE \"left\" (id bigint PRIMARY KEY);
                 CREATE TABLE \"right\" (id bigint PRIMARY KEY);
                 CREATE TABLE counter (id bigint PRIMARY KEY, version bigint NOT NULL, owner bigint);
                 INSERT INTO counter VALUES (1, 0, NULL), (2, 0, NULL);",
            )
            .await
            .expect("tables");
        Self { schema, outside }
    }

    pub(crate) fn url(&self) -> &str {
        self.schema.url()
    }

    pub(crate) fn config(&self) -> Config {
        Self::config_of(self.schema.url(), self.schema.name())
    }

    /// As [`config`](Self::config), by way of a proxy.
    pub(crate) fn config_through(&self, proxy: &FaultProxy) -> Config {
        let url =
            self.schema.url().replace(&Cluster::shared().address().to_string(), &proxy.address().to_string());
        assert_ne!(url, self.schema.url(), "the proxy is in the way");
        Self::config_of(&url, self.schema.name())
    }

    fn config_of(url: &str, name: &str) -> Config {
        // The server takes no password; having one keeps the DSQL dialect from signing a token instead.
        let url = format!("{url}&password=unused");
        Config::new(ConnectionString::parse(&url).expect("url")).application_name(name)
    }

    pub(crate) fn pool(&self) -> Pool {
        Pool::new(self.config()).expect("pool")
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.outside.query_one(sql, &[]).await.expect("a number").get(0)
    }

    /// How many ids are in both tables. Panics when one has an id that the other has not.
    pub(crate) async fn whole_writes(&self) -> i64 {
        let torn = self
            .number(
                "SELECT count(*) FROM \"left\" FULL JOIN \"right\" USING (id)
                 WHERE \"left\".id IS NULL OR \"right\".id IS NULL",
            )
            .await;
        assert_eq!(torn, 0, "half a transaction is visible");
        self.number("SELECT count(*) FROM \"left\"").await
    }

    /// Waits until no session of the pools under test matches the condition on `pg_stat_activity`.
    pub(crate) async fn no_session(&self, condition: &str) {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{}' AND ({condition})",
            self.schema.name()
        );
        let gone = async { while self.number(&sql).await > 0 {} };
        tokio::time::timeout(PATIENCE, gone).await.unwrap_or_else(|_| panic!("sessions stay: {condition}"));
    }
}

/// Retries without waiting.
pub(crate) fn eager(attempts_max: u32) -> Policy {
    Policy::new(attempts_max, Duration::ZERO, Duration::ZERO).expect("policy")
}
