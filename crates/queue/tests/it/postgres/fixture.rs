//! A schema of the test's own, stores on it, and a look at it from outside.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::postgres::{Config, PostgresQueues, PostgresStore};
use leasehold_queue::{Item, QueueStore, Store};
use leasehold_testkit::postgres::Cluster;
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::{Client, NoTls};

pub(crate) use crate::line::{Line, START, at, partition};

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The harness of the contract.
pub(crate) struct Postgres {
    url: String,
}

#[async_trait]
impl Harness for Postgres {
    async fn start() -> Self {
        Postgres { url: Cluster::shared().schema().await.url().to_owned() }
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn shortened(&self) -> u32 {
        5
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(PostgresStore::new(pool(&self.url, 3), Config::default()))
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        Arc::new(PostgresQueues::new(pool(&self.url, 3), &Config::default()))
    }

    async fn restart(self: Box<Self>) -> Box<dyn Harness> {
        self
    }
}

/// A schema with nothing in it.
pub(crate) struct Fixture {
    pub(crate) url: String,
    /// Sees the schema, does not go through the code under test.
    pub(crate) outside: Client,
}

impl Fixture {
    pub(crate) async fn start() -> Self {
        Fixture::at(Cluster::shared().schema().await.url()).await
    }

    pub(crate) async fn at(url: &str) -> Self {
        Fixture { outside: session(url).await, url: url.to_owned() }
    }

    pub(crate) fn store(&self) -> PostgresStore {
        PostgresStore::new(pool(&self.url, 3), Config::default())
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.outside.query_one(sql, &[]).await.expect("a number").get(0)
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.outside.batch_execute(sql).await.expect("runs");
    }

    /// PostgreSQL has no event for "somebody waits"; it is looked at until it is so.
    pub(crate) async fn until(&self, sql: &str, wanted: i64) {
        let looked = async {
            while self.number(sql).await != wanted {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, looked).await.unwrap_or_else(|_| panic!("never {wanted}: {sql}"));
    }
}

impl Line {
    pub(crate) fn items(&mut self, len: usize) -> Vec<Item> {
        (0..len).map(|number| self.item(&number.to_string())).collect()
    }
}

pub(crate) fn pool(url: &str, size_max: usize) -> Pool {
    let connection = ConnectionString::parse(url).expect("url");
    Pool::new(leasehold_txn::Config::new(connection).size_max(size_max)).expect("pool")
}

/// Sees a database without going through the code under test.
pub(crate) async fn session(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(connection);
    client
}
