//! Everything in Aurora DSQL, in tables of our own that are made when they are first needed.
//!
//! The code is that of `postgres`, with other statements. Not every cluster has foreign keys, so a write looks for what
//! stands in its way itself, and claims the rows (`FOR UPDATE`) that must stay: whoever deletes one at the same time writes
//! it, and of the two the later commit fails. `docs/adr/0020-access-without-foreign-keys.md` goes through all pairs.

mod changes;
mod schema;
mod statements;

use std::time::Duration;

use leasehold_txn::{Policy, Pool};

use self::schema::Dsql;
use super::Stores;
use super::postgres::{PostgresStore, TIMEOUT};

/// How records are kept in DSQL.
#[derive(Clone, Debug)]
pub struct Config {
    /// How conflicts are tried again. Its deadline is set by `timeout`.
    pub retries: Policy,
    /// How long one operation may take, waiting for a connection and trying again included.
    pub timeout: Duration,
    /// How often a server looks whether others changed something. So long, and as long as the look takes, it may honour
    /// what another one took away.
    pub look_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config { retries: Policy::dsql(), timeout: TIMEOUT, look_every: Duration::from_secs(1) }
    }
}

/// A store in one DSQL cluster.
#[derive(Debug)]
pub struct DsqlStore(PostgresStore);

impl DsqlStore {
    /// Over a pool that may be shared with others. Touches nothing yet.
    #[must_use]
    pub fn new(pool: Pool, config: Config) -> Self {
        let Config { retries, timeout, look_every } = config;
        let dialect = Dsql { retries, look_every };
        DsqlStore(PostgresStore::with(pool, timeout, &statements::DSQL, Box::new(dialect)))
    }

    /// For all kinds of records, with news of what other servers change.
    #[must_use]
    pub fn stores(self) -> Stores {
        self.0.stores()
    }
}
