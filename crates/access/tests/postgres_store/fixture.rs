//! A schema of the test's own, stores on it, and a look at it from outside.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_access::conformance::Harness;
use leasehold_access::store::postgres::PostgresStore;
use leasehold_access::store::{Change, ChangeFeed};
use leasehold_access::{Access, Config, Driver, Stores};
use leasehold_core::{Clock, ManualClock};
use leasehold_testkit::pgbouncer::PgBouncer;
use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_txn::{ConnectionString, Pool};
use tokio::sync::mpsc;
use tokio_postgres::{Client, NoTls};

/// Nothing in a test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Postgres {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) clock: ManualClock,
}

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
        let clock: Arc<dyn Clock> = Arc::new(self.clock.clone());
        Access::new(stores, Config { driver: Driver::Internal, clock, ..Config::default() })
    }

    /// Sees the schema, does not go through the code under test.
    pub(crate) async fn outside(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.url, NoTls).await.expect("connects");
        tokio::spawn(connection);
        client
    }

    /// A server, and what it hears after it has acted on it. It hears from when this returns.
    pub(crate) async fn hearing_server(&self) -> (Access, Heard) {
        let (seen, heard) = mpsc::unbounded_channel();
        let feed = Arc::new(Seen { inner: self.store(), seen });
        let server = self.server(self.stores().await.with_changes(feed));
        server.bootstrap().await.expect("starts");
        let mut heard = Heard(heard);
        heard.wait_for(&Change::Everything).await;
        (server, heard)
    }
}

/// A database of the test's own, reached through the pooler. A schema would need `search_path`, which a pooler forgets.
pub(crate) struct Pooled(Database);

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

struct Seen {
    inner: PostgresStore,
    seen: mpsc::UnboundedSender<Change>,
}

#[async_trait]
impl ChangeFeed for Seen {
    async fn run(&self, told: &(dyn Fn(Change) + Send + Sync)) {
        let pass_on = |change: Change| {
            told(change.clone());
            let _ = self.seen.send(change);
        };
        self.inner.run(&pass_on).await;
    }
}

/// What a server has heard.
pub(crate) struct Heard(mpsc::UnboundedReceiver<Change>);

impl Heard {
    pub(crate) async fn next(&mut self) -> Change {
        let heard = tokio::time::timeout(PATIENCE, self.0.recv()).await.expect("something is heard");
        heard.expect("the feed goes on")
    }

    pub(crate) async fn wait_for(&mut self, change: &Change) {
        let waiting = async {
            while let Some(heard) = self.0.recv().await {
                if heard == *change {
                    return;
                }
            }
            panic!("the feed ended");
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("{change:?} was not heard"));
    }
}
