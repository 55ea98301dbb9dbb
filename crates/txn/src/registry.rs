//! One pool per target in a process: many stores on one database share its connections.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::pool::WeakPool;
use crate::{Config, ConnectionString, Dialect, Pool, Result};

/// The pools in use, by target.
///
/// A pool lives as long as somebody holds a clone of it. While it lives, everybody who asks for its target gets
/// it, with the settings of whoever asked first.
#[derive(Default)]
pub struct Registry {
    /// Of a pooler's pool a connection is different, so it is part of what is asked for.
    pools: Mutex<HashMap<(ConnectionString, Dialect, bool), WeakPool>>,
}

impl Registry {
    /// A registry of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The registry of the process.
    #[must_use]
    pub fn of_process() -> &'static Self {
        static OF_PROCESS: LazyLock<Registry> = LazyLock::new(Registry::new);
        &OF_PROCESS
    }

    /// The pool of the config's target, pooler and dialect, made from this config if there is none. Opens nothing.
    ///
    /// # Errors
    /// As [`Pool::new`].
    pub fn pool(&self, config: Config) -> Result<Pool> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let target = (config.connection.clone(), config.dialect, config.behind_pooler);
        if let Some(pool) = pools.get(&target).and_then(WeakPool::upgrade) {
            config.check()?;
            return Ok(pool);
        }
        let pool = Pool::new(config)?;
        pools.retain(|_, pool| pool.upgrade().is_some());
        pools.insert(target, pool.downgrade());
        Ok(pool)
    }

    /// How many pools are in use.
    #[must_use]
    pub fn len(&self) -> usize {
        let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.values().filter(|pool| pool.upgrade().is_some()).count()
    }

    /// Whether no pool is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("pools", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Registry;
    use crate::{Config, ConnectionString, Dialect, Isolation};

    fn config(text: &str) -> Config {
        Config::new(ConnectionString::parse(text).unwrap())
    }

    #[test]
    fn one_target_in_two_spellings_is_one_pool_of_the_first_size() {
        let registry = Registry::new();
        let first = registry.pool(config("host=h user=me dbname=x").size_max(3)).unwrap();
        let second = registry.pool(config("postgres://me@h/x").size_max(7)).unwrap();
        assert_eq!((first.size_max(), second.size_max(), registry.len()), (3, 3, 1));
    }

    #[test]
    fn another_target_or_dialect_is_another_pool() {
        let registry = Registry::new();
        let snapshot = Dialect::Postgres { isolation: Isolation::RepeatableRead, retry_conflicts: true };
        let pools = [
            registry.pool(config("host=h dbname=x")).unwrap(),
            registry.pool(config("host=h dbname=y")).unwrap(),
            registry.pool(config("host=h dbname=x").dialect(snapshot)).unwrap(),
            registry.pool(config("host=h dbname=x").behind_pooler(true)).unwrap(),
            registry.pool(config("host=h dbname=x pooler=transaction")).unwrap(),
        ];
        assert_eq!(registry.len(), pools.len());
    }

    #[test]
    fn last_user_takes_the_pool_away() {
        let registry = Registry::new();
        let first = registry.pool(config("host=h").size_max(3)).unwrap();
        let second = first.clone();
        drop(first);
        assert_eq!(registry.len(), 1);
        drop(second);
        assert!(registry.is_empty());
        assert_eq!(registry.pool(config("host=h").size_max(7)).unwrap().size_max(), 7);
    }

    #[test]
    fn bad_settings_are_refused_even_when_a_pool_exists() {
        let registry = Registry::new();
        let _pool = registry.pool(config("host=h")).unwrap();
        for (config, message) in [
            (config("host=h").size_max(0), "size_max: must be 1 to 1000, is 0"),
            (config("host=h").size_max(1_001), "size_max: must be 1 to 1000, is 1001"),
            (
                config("host=h").wait_timeout(std::time::Duration::ZERO),
                "wait_timeout: must be more than 0s and at most 3600s, is 0ns",
            ),
            (
                config("host=h").connect_timeout(std::time::Duration::from_secs(3_601)),
                "connect_timeout: must be more than 0s and at most 3600s, is 3601s",
            ),
            (
                config("host=h").lifetime_max(std::time::Duration::from_millis(1)),
                "lifetime_max: must be at least 1s, is 1ms",
            ),
            (config("host=h").statements_max(0), "statements_max: must be at least 1, is 0"),
            (
                config("host=h").application_name("n".repeat(64)),
                "application_name: must have at most 63 bytes, none of them zero, has 64",
            ),
        ] {
            let error = registry.pool(config).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.code()), (message, "txn.bad_config"));
        }
    }
}
