//! Behind PgBouncer in transaction mode: every statement may meet another session.

use std::sync::Arc;

use async_trait::async_trait;
use leasehold_queue::conformance::Harness;
use leasehold_queue::store::postgres::{Config, PostgresQueues, PostgresStore};
use leasehold_queue::{QueueStore, Store};
use leasehold_testkit::pgbouncer::PgBouncer;
use leasehold_testkit::postgres::{Cluster, Database};
use leasehold_txn::{ConnectionString, Pool};

/// A database of the test's own, reached through the pooler. A schema would need `search_path`, which a pooler forgets.
pub(crate) struct Pooled {
    database: Database,
}

impl Pooled {
    fn pool(&self) -> Pool {
        let url = PgBouncer::shared().url(self.database.name());
        let connection = ConnectionString::parse(&url).expect("url");
        Pool::new(leasehold_txn::Config::new(connection).size_max(3).behind_pooler(true)).expect("pool")
    }
}

#[async_trait]
impl Harness for Pooled {
    async fn start() -> Self {
        Pooled { database: Cluster::shared().database().await }
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(PostgresStore::new(self.pool(), Config::default()))
    }

    fn queues(&self) -> Arc<dyn QueueStore> {
        Arc::new(PostgresQueues::new(self.pool(), &Config::default()))
    }

    async fn restart(self: Box<Self>) -> Box<dyn Harness> {
        self
    }
}

leasehold_queue::store_conformance!(Pooled, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
