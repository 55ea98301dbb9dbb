//! Locks in PostgreSQL, on SyncGuard's tables.
//!
//! The server's clock judges. Acquire, extend and release are one round trip each. How and why in
//! `docs/backends/postgres.md` and `docs/adr/0007-two-modes-on-postgresql.md`.

pub(super) mod acquire;
mod acquire_many;
mod asked;
pub(super) mod errors;
pub(super) mod extend;
mod found;
mod functions;
mod fused;
pub(super) mod is_locked;
pub(super) mod lookup;
pub(super) mod news;
pub(super) mod operations;
pub(super) mod release;
mod release_many;
mod schema;
pub(super) mod statements;
pub(super) mod store;
mod turn;
pub(super) mod used_id;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::postgres::TableNames;
use leasehold_core::{Key, LockId, LockRecord, TIME_TOLERANCE};
use leasehold_txn::{ConnectionString, Policy, Pool};
use tokio_util::task::TaskTracker;

use self::errors::error_of;
use self::functions::Functions;
pub use self::fused::{FusedBackend, FusedConfig};
use self::news::News;
pub use self::schema::{OptionalColumns, setup_sql};
use self::statements::{PostgresStatements, Statements};
use self::store::Store;
use super::{Capabilities, LockBackend, TimeAuthority};
use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LookupBy, ReleaseOutcome,
    Result, Watch,
};

/// Who else uses the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// SyncGuard processes may: acquire takes the advisory lock that they rely on.
    #[default]
    Shared,
    /// Only Leasehold does, in either mode: acquire goes without that lock. Beside a SyncGuard process this is unsafe.
    Exclusive,
}

/// Where news of released keys come from.
#[derive(Debug, Clone, Default)]
pub enum Notifications {
    /// One connection more to where the pool leads, opened when first needed. Off behind a pooler, which would not
    /// pass them on.
    #[default]
    Pool,
    /// One connection to where this pool leads: the server itself, past the pooler.
    Via(Pool),
    /// Waiters ask from time to time.
    Off,
}

/// How locks are kept in PostgreSQL.
#[derive(Debug, Clone)]
pub struct Config {
    /// The two tables, by default SyncGuard's.
    pub tables: TableNames,
    /// Who else uses them.
    pub mode: Mode,
    /// Whether [`LockBackend::is_locked`] removes the row of a hold that ended more than two seconds ago.
    pub cleanup_in_is_locked: bool,
    /// Where news of released keys come from.
    pub notifications: Notifications,
    /// How long one operation may take, waiting for a connection included.
    pub timeout: Duration,
}

impl Config {
    /// With these names, and the defaults for the rest.
    pub fn of(options: &super::BackendOptions) -> Self {
        Config {
            tables: options.tables.clone(),
            cleanup_in_is_locked: options.cleanup_in_is_locked,
            ..Config::default()
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            tables: TableNames::default(),
            mode: Mode::default(),
            cleanup_in_is_locked: false,
            notifications: Notifications::default(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// Locks in one PostgreSQL database.
///
/// Making one touches nothing: the tables come from [`PostgresBackend::setup_schema`] or a migration.
#[derive(Debug)]
pub struct PostgresBackend {
    store: Store,
    config: Config,
    statements: Arc<PostgresStatements>,
    functions: Functions,
    /// What nobody waits for, until [`PostgresBackend::close`] does.
    background: TaskTracker,
}

impl PostgresBackend {
    /// Over a pool that may be shared with others. READ COMMITTED is pinned whatever the server's default.
    pub fn new(pool: Pool, config: Config) -> Self {
        let listening = match &config.notifications {
            Notifications::Pool if !pool.behind_pooler() => Some(pool.clone()),
            Notifications::Via(direct) => Some(direct.clone()),
            Notifications::Pool | Notifications::Off => None,
        };
        PostgresBackend {
            store: Store {
                pool,
                statements: Statements::new(&config.tables),
                retries: Policy::none(),
                timeout: config.timeout,
                news: News::new(listening, &config.tables),
            },
            statements: Arc::new(PostgresStatements::new(&config.tables)),
            functions: Functions::default(),
            background: TaskTracker::new(),
            config,
        }
    }

    /// Over a pool of its own, with the default settings.
    ///
    /// # Errors
    /// When the url is no connection string.
    pub fn connect(url: &str) -> Result<Self> {
        let connection = ConnectionString::parse(url).map_err(|error| error_of("connect", error))?;
        PostgresBackend::connect_to(connection, Config::default())
    }

    /// Over a pool of its own, with a connection string that has been parsed.
    ///
    /// # Errors
    /// When the pool cannot be made from it.
    pub fn connect_to(connection: ConnectionString, config: Config) -> Result<Self> {
        let pool = Pool::new(leasehold_txn::Config::new(connection));
        Ok(PostgresBackend::new(pool.map_err(|error| error_of("connect", error))?, config))
    }

    /// Makes the tables, their indexes and the functions that make us faster, where they are not there yet. Existing tables
    /// are left as they are. Dropping the future midway leaves all tables or none.
    pub async fn setup_schema(&self, columns: OptionalColumns) -> Result<()> {
        let made = schema::set_up(&self.store.pool, &self.store.policy(), &self.config.tables, columns).await;
        self.functions.forget();
        made.map_err(|error| error_of("setup_schema", error))
    }

    /// [`LockBackend::acquire`] for many keys in one round trip; the answers in the order of the requests. A request
    /// that lost a race, or names the key of another one, costs a round trip of its own.
    ///
    /// Dropping the future midway may leave any of the keys held until their ttl.
    ///
    /// # Errors
    /// When the statement failed as a whole: none of the requests was granted, or, if the outcome is unknown, any.
    pub async fn acquire_many(&self, requests: &[AcquireRequest]) -> Result<Vec<Result<AcquireOutcome>>> {
        acquire_many::acquire_many(self, requests).await
    }

    /// [`LockBackend::release`] for many holds in one round trip; the answers in the order of the ids.
    ///
    /// Dropping the future midway leaves any of them ended or not.
    ///
    /// # Errors
    /// When the statement failed as a whole.
    pub async fn release_many(&self, lock_ids: &[LockId]) -> Result<Vec<Result<ReleaseOutcome>>> {
        release_many::release_many(self, lock_ids).await
    }

    /// Stops listening and waits for what runs in the background. The pool stays open. Dropping the future leaves the
    /// rest to end by itself.
    pub async fn close(&self) {
        self.store.news.close();
        self.background.close();
        self.background.wait().await;
    }
}

#[async_trait]
impl LockBackend for PostgresBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        acquire::acquire(self, request).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        extend::extend_by_call(self, request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        release::release_by_call(self, lock_id).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        is_locked::is_locked_by_call(self, key).await
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        lookup::lookup_by_call(self, by).await
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        lookup::list(&self.store, request).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.store.news.watch(key.key_hash()).await
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "postgres",
            time_authority: TimeAuthority::Server,
            tolerance: TIME_TOLERANCE,
            durable: true,
        }
    }
}
