use std::path::PathBuf;
use std::time::Duration;

use leasehold_core::redis::{KeyPrefix, ReservedKeys};
use secrecy::SecretString;

/// How to reach Redis and how to keep locks there.
///
/// ```
/// use leasehold_locks::backend::redis::RedisConfig;
///
/// let config = RedisConfig { cleanup_in_is_locked: true, ..RedisConfig::new("redis://127.0.0.1:6379") };
/// ```
#[derive(Debug, Clone)]
pub struct RedisConfig {
    /// `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS. For a cluster
    /// `redis-cluster://` or `rediss-cluster://` with some of its nodes: `host:port,host:port`.
    pub url: SecretString,
    /// What every Redis key begins with. On a cluster it must have a hash tag, such as `{syncguard}`.
    pub key_prefix: KeyPrefix,
    /// What to do with keys that would be kept where another lock has its index or its counter.
    pub reserved_keys: ReservedKeys,
    /// Whether asking if a key is locked also removes a hold that is long over. Redis does so by itself, unless
    /// somebody wrote an entry without a ttl.
    pub cleanup_in_is_locked: bool,
    /// How long one operation may take, with connecting: 5 s.
    pub timeout: Duration,
    /// How long one attempt to reach one node may take: 2 s.
    pub connect_timeout: Duration,
    /// The certificates to trust for TLS, as a PEM file; those of the system unless given.
    pub tls_root_cert: Option<PathBuf>,
}

impl RedisConfig {
    /// All defaults, SyncGuard's where it has them.
    pub fn new(url: impl Into<String>) -> Self {
        RedisConfig {
            url: SecretString::from(url.into()),
            key_prefix: KeyPrefix::default(),
            reserved_keys: ReservedKeys::Refuse,
            cleanup_in_is_locked: false,
            timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(2),
            tls_root_cert: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_the_password() {
        let config = RedisConfig::new("redis://worker:hunter2@127.0.0.1");
        assert!(!format!("{config:?}").contains("hunter2"), "{config:?}");
    }
}
