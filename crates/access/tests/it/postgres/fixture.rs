//! A schema of the test's own, stores on it, and a look at it from outside.

use async_trait::async_trait;
use leasehold_access::conformance::Harness;
use leasehold_access::store::postgres::PostgresStore;
use leasehold_access::{Access, Stores};
use leasehold_core::ManualClock;
use leasehold_testkit::pgbouncer::PgBouncer;
use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_txn::{ConnectionString, Pool};
use tokio_postgres::{Client, NoTls};

use crate::heard::{self, Heard};

pub(crate) struct Postgres {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) clock: ManualClock,
}

#[async_trait]
impl Harness for Postgres {
    async fn start() -> Self {
        let schema = Cluster::shared().schema().await;
        Postgres {
            url: schema.url().to_owned(),
            name: schema.name().to_owned(),
            clock: ManualClock::default(),
        }
    }

    async fn stores(&self) -> Stores {
        self.store().stores()
    }
}

impl Postgres {
    pub(crate) fn store(&self) -> PostgresStore {
        PostgresStore::new(self.pool(&self.url))
    }

    /// Its sessions carry the name of the schema.
    pub(crate) fn pool(&self, url: &str) -> Pool {
        let connection = ConnectionString::parse(url).expect("url");
        let config = leasehold_txn::Config::new(connection).size_max(2).application_name(&self.name);
        Pool::new(config).expect("pool")
    }

    pub(crate) fn server(&self, stores: Stores) -> Access {
        heard::server(stores, &self.clock)
    }

    /// Sees the schema, does not go through the code under test.
    pub(crate) async fn outside(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.expect("connects");
        tokio::spawn(connection);
        client
    }

    pub(crate) async fn hearing_server(&self) -> (Access, Heard) {
        heard::hearing_server(self.stores().await, &self.clock).await
    }
}

/// A database of the test's own, reached through the pooler. A schema would need `search_path`, which a pooler forgets.
pub(crate) struct Pooled(Database);

#[async_trait]
impl Harness for Pooled {
    async fn start() -> Self {
        Pooled(Cluster::shared().database().await)
    }

    async fn stores(&self) -> Stores {
        let url = PgBouncer::shared().url(self.0.name());
        let connection = ConnectionString::parse(&url).expect("url");
        let config = leasehold_txn::Config::new(connection).size_max(2).behind_pooler(true);
        let stores = PostgresStore::new(Pool::new(config).expect("pool")).stores();
        assert!(stores.changes.is_none(), "a pooler does not pass news on");
        stores
    }
}
