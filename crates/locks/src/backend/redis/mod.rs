//! Locks in Redis, alone or as a cluster: the same entries as SyncGuard, judged by the server's clock.
//!
//! Each operation is one script on one shared connection. On a cluster the prefix needs a hash tag, which puts all
//! locks on one shard: `docs/backends/redis.md` says what that means.

mod acquire;
mod batched;
mod config;
mod connection;
mod dial;
mod entry;
mod errors;
mod extend;
mod inspect;
mod is_locked;
mod list;
mod location;
mod lookup;
mod release;
mod script;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::redis::ReservedKeys;
use leasehold_core::{Key, KeyHash, LockId, LockRecord, StorageKeySpace};
use redis::Value;
use secrecy::ExposeSecret;
use tokio::time::Instant;

pub use self::config::RedisConfig;
use self::connection::Connection;
use self::dial::Dialler;
use self::errors::Effect;
pub use self::inspect::Condition;
use self::location::{Location, has_hash_tag};
use self::watch::News;
use super::{Capabilities, LockBackend, TimeAuthority};
use crate::{
    AcquireOutcome, AcquireRequest, Error, ExtendOutcome, ExtendRequest, ListRequest, LookupBy,
    ReleaseOutcome, Result, Watch,
};

/// Refuses what is not the URL of a Redis, before anything is made of it.
pub(super) fn check_url(url: &str) -> Result<()> {
    Location::parse(url).map(drop)
}

/// Locks in Redis.
pub struct RedisBackend {
    connection: Arc<Connection>,
    space: StorageKeySpace,
    /// What every Redis key begins with, colon and all.
    lead: String,
    reserved_keys: ReservedKeys,
    cleanup_in_is_locked: bool,
    timeout: Duration,
    news: News,
}

impl RedisBackend {
    /// Checks the configuration; connects when it is first used.
    pub fn new(config: &RedisConfig) -> Result<Self> {
        let location = Location::parse(config.url.expose_secret())?;
        let prefix = config.key_prefix.as_str();
        if location.cluster && !has_hash_tag(prefix) {
            let reason = "has no hash tag: on a Redis Cluster set one such as \"{syncguard}\", here and for \
                          every SyncGuard process, so that all entries of a lock are in one slot";
            return Err(Error::BadConfig { field: "key_prefix", reason: reason.to_owned() });
        }
        for (field, timeout) in [("timeout", config.timeout), ("connect_timeout", config.connect_timeout)] {
            if timeout.is_zero() {
                return Err(Error::BadConfig { field, reason: "must be longer than zero".to_owned() });
            }
        }
        let lead = match prefix.trim_end_matches(':') {
            "" => String::new(),
            prefix => format!("{prefix}:"),
        };
        let dialler = Dialler::new(location.tls, config.tls_root_cert.as_deref())?;
        Ok(RedisBackend {
            connection: Arc::new(Connection::new(location, dialler, config.connect_timeout, lead.clone())),
            space: StorageKeySpace::redis(&config.key_prefix),
            reserved_keys: config.reserved_keys,
            cleanup_in_is_locked: config.cleanup_in_is_locked,
            timeout: config.timeout,
            news: News::new(format!("{lead}freed"), config.connect_timeout),
            lead,
        })
    }

    /// As [`RedisBackend::new`], and makes sure that Redis is there. Dropping it midway leaves nothing behind.
    pub async fn connect(config: &RedisConfig) -> Result<Self> {
        let backend = RedisBackend::new(config)?;
        let answer = backend.connection.send(&redis::cmd("PING"), backend.deadline()).await;
        answer.map_err(|failure| failure.into_error("connect", Effect::Reads))?;
        Ok(backend)
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// The entry that an index led to is not a lock. Only its storage key is known, which is that of its key unless
    /// it was too long.
    fn foreign(&self, operation: &'static str, lock: &Value) -> Error {
        let lock = entry::text(lock).unwrap_or_default();
        let key_hash = KeyHash::of(lock.strip_prefix(&self.lead).unwrap_or(lock));
        Error::Foreign { operation, key_hash }
    }
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBackend").field("lead", &self.lead).finish_non_exhaustive()
    }
}

#[async_trait]
impl LockBackend for RedisBackend {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        acquire::acquire(self, request).await
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        extend::extend(self, request).await
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        release::release(self, lock_id).await
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        is_locked::is_locked(self, key).await
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        lookup::lookup(self, by).await
    }

    /// Redis keeps no order: each page scans the keys of the whole database, and refuses beyond 100,000 held keys.
    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        list::list(self, request).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.news.watch(&self.connection, key).await
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            backend: "redis",
            time_authority: TimeAuthority::Server,
            // The entry goes with its ttl, so that there is nothing left to tolerate.
            tolerance: Duration::ZERO,
            // Unless it writes every command to disk, Redis may forget the last ones in a crash.
            durable: false,
        }
    }
}
