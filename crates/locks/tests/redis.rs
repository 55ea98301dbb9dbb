//! The contract over Redis, and what only Redis can break.

#[path = "redis_store/errors.rs"]
mod errors;
#[path = "redis_store/faults.rs"]
mod faults;
#[path = "redis_store/interop.rs"]
mod interop;
#[path = "redis_store/news.rs"]
mod news;
#[path = "redis_store/raw.rs"]
mod raw;
#[path = "redis_store/tls.rs"]
mod tls;

use std::sync::Arc;
use std::time::Duration;

use leasehold_locks::conformance::Harness;
use leasehold_locks::{Fence, Key, LockBackend, lock_conformance};
use leasehold_testkit::redis::Server;
use raw::{Raw, connected};

struct Redis {
    url: String,
    prefix: String,
    raw: Raw,
}

impl Harness for Redis {
    async fn start() -> Self {
        let server = Server::shared();
        Redis { url: server.url(), prefix: server.prefix(), raw: Raw::connect(&server.url()).await }
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(connected(&self.url, &self.prefix).await)
    }

    async fn advance(&self, duration: Duration) {
        self.raw.advance(&self.prefix, duration).await.expect("time passes");
    }

    async fn count_to(&self, key: &Key, fence: Fence) {
        self.raw.count_to(&self.prefix, key, fence).await;
    }

    fn refused_keys(&self) -> &'static [&'static str] {
        &["fence:x", "id:x", "fence:syncguard:x"]
    }

    fn clock_slack(&self) -> Duration {
        Duration::from_secs(4)
    }
}

lock_conformance!(Redis, [ignore = "needs Redis: cargo xtask test redis"]);
