//! Locks in Aurora DSQL.
//!
//! Nothing waits there: of two transactions that write one row the later commit fails, and is run again. So every decision
//! is one statement about one row. Why this is right, and how the table relates to SyncGuard's, in
//! `docs/adr/0015-one-row-per-key-on-dsql.md`.

mod acquire;
mod schema;
mod statements;

use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::postgres::TableNames;
use leasehold_core::{Key, LockId, LockRecord, TIME_TOLERANCE};
use leasehold_txn::{ConnectionString, Policy, Pool};

pub use self::schema::setup_sql;
use self::statements::DsqlStatements;
use super::postgres::errors::error_of;
use super::postgres::news::News;
use super::postgres::store::Store;
use super::postgres::{extend, is_locked, lookup, release};
use super::{Capabilities, LockBackend, TimeAuthority};
use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LookupBy, ReleaseOutcome,
    Result, Watch,
};

/// How locks are kept in DSQL.
#[derive(Debug, Clone)]
pub struct Config {
    /// The names of tables. Only the first one is used: the fence is in the row of the lock.
    pub tables: TableNames,
    /// How conflicts are tried again. Its deadline is set by `timeout`.
    pub retries: Policy,
    /// How long one operation may take, waiting for a connection and trying again included.
    pub timeout: Duration,
}

impl Config {
    /// With these names, and the defaults for the rest.
    pub fn of(options: &super::BackendOptions) -> Self {
        Config { tables: options.tables.clone(), ..Config::default() }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config { tables: TableNames::default(), retries: Policy::dsql(), timeout: Duration::from_secs(30) }
    }
}

/// Locks in one DSQL cluster.
///
/// Making one touches nothing: the table comes from [`DsqlBackend::setup_schema`] or a migration.
#[derive(Debug)]
pub struct DsqlBackend {
    store: Store,
    statements: DsqlStatements,
}

impl DsqlBackend {
    /// Over a pool that may be shared with others.
    pub fn new(pool: Pool, config: Config) -> Self {
        let Config { tables, retries, timeout } = config;
        DsqlBackend {
            store: Store {
                pool,
                statements: statements::shared(&tables),
                retries,
                timeout,
                // There is nothing to listen to: waiters of other processes ask from time to time.
                news: News::new(None, &tables),
            },
            statements: DsqlStatements::new(&tables),
        }
    }

    /// Over a pool of its own.
    ///
    /// # Errors
    /// When the pool cannot be made from the connection string.
    pub fn connect_to(connection: ConnectionString, config: Config) -> Result<Self> {
        let pool = Pool::new(leasehold_txn::Config::new(connection));
        Ok(DsqlBackend::new(pool.map_err(|error| error_of("connect", error))?, config))
    }

    /// Makes the table and its index, where they are not there yet, each in a transaction of its own as DSQL wants it, and
    /// waits until the index is built. Can be repeated. Dropping the future midway may leave the table without its index.
    pub async fn setup_schema(&self) -> Result<()> {
        let made = schema::set_up(&self.store, &self.statements).await;
        made.map_err(|error| error_of("setup_schema", error))
    }
}

#[async_trait]
impl LockBackend for DsqlBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        acquire::acquire(self, request).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        extend::extend(&self.store, request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        release::release(&self.store, lock_id).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        is_locked::is_locked(&self.store, key).await
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        lookup::lookup(&self.store, by).await
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        lookup::list(&self.store, request).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.store.news.watch(key.key_hash()).await
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "dsql",
            time_authority: TimeAuthority::Server,
            tolerance: TIME_TOLERANCE,
            durable: true,
        }
    }
}
