//! The contract over Redis, and what only Redis can break.

mod errors;
mod faults;
mod interop;
mod news;
pub(crate) mod raw;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use self::raw::{Raw, connected};
use async_trait::async_trait;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{Fence, Key, LockBackend, lock_conformance};
use leasehold_testkit::redis::Server;

struct Redis {
    url: String,
    prefix: String,
    raw: Raw,
}

#[async_trait]
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

lock_conformance!(Redis, [ignore = "needs Redis: cargo xtask test redis"], [store waiting]);
