//! Redis as a peer sees it: plain commands, no knowledge of ours.

use std::time::Duration;

use leasehold_core::redis::KeyPrefix;
use leasehold_locks::backend::redis::{RedisBackend, RedisConfig};
use leasehold_locks::{AcquireRequest, Fence, Key, LockId, Ttl};
use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, RedisResult};

/// Beyond it something hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// How long an operation may take, and each attempt to connect.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A plain connection.
pub(crate) struct Raw(MultiplexedConnection);

impl Raw {
    pub(crate) async fn connect(url: &str) -> Raw {
        let client = redis::Client::open(url).expect("a URL");
        let config = redis::AsyncConnectionConfig::new()
            .set_connection_timeout(Some(LIMIT))
            .set_response_timeout(Some(LIMIT));
        Raw(client.get_multiplexed_async_connection_with_config(&config).await.expect("Redis is there"))
    }

    pub(crate) async fn try_ask<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        command.query_async(&mut self.0.clone()).await
    }

    pub(crate) async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_ask(words).await.unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// The server's clock, in milliseconds.
    pub(crate) async fn now(&self) -> i64 {
        let (seconds, micros): (i64, i64) = self.ask(&["TIME"]).await;
        seconds * 1000 + micros / 1000
    }

    /// As if the last hold of the key had had this fence.
    pub(crate) async fn count_to(&self, prefix: &str, key: &Key, fence: Fence) {
        let prefix = prefix.trim_end_matches(':');
        let counter = format!("{prefix}:fence:{prefix}:{}", key.as_str());
        self.ask::<()>(&["SET", &counter, &fence.as_u64().to_string()]).await;
    }

    /// Lets time pass for all entries under a prefix.
    pub(crate) async fn advance(&self, prefix: &str, duration: Duration) -> RedisResult<()> {
        let (lead, millis) = (format!("{}:", prefix.trim_end_matches(':')), duration.as_millis().to_string());
        self.try_ask(&["EVAL", include_str!("advance.lua"), "1", &lead, &lead, &millis]).await
    }
}

/// With limits that a machine that stands still for seconds does not reach; a test of the limits sets its own.
pub(crate) fn config(url: &str, prefix: &str) -> RedisConfig {
    RedisConfig {
        key_prefix: KeyPrefix::parse(prefix).expect("a prefix"),
        timeout: TIMEOUT,
        connect_timeout: TIMEOUT,
        ..RedisConfig::new(url)
    }
}

pub(crate) async fn connected(url: &str, prefix: &str) -> RedisBackend {
    RedisBackend::connect(&config(url, prefix)).await.expect("Redis is there")
}

pub(crate) fn key(text: &str) -> Key {
    Key::parse(text).expect("a key")
}

pub(crate) fn lock_id() -> LockId {
    LockId::generate().expect("random bytes")
}

pub(crate) fn request(text: &str) -> AcquireRequest {
    AcquireRequest { key: key(text), lock_id: lock_id(), ttl: Ttl::DEFAULT }
}

pub(crate) fn ttl(millis: u64) -> Ttl {
    Ttl::from_millis(millis).expect("a ttl")
}
