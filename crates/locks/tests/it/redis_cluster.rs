//! The contract over a Redis Cluster, and what changes there.

mod failover;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use leasehold_locks::conformance::Harness;
use leasehold_locks::{Fence, Key, LockBackend, lock_conformance};
use leasehold_testkit::redis::{Cluster, Settings};

use crate::redis::raw::{Raw, connected};

static SHARED: OnceLock<Cluster> = OnceLock::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// One cluster for all tests that leave it whole.
fn shared() -> &'static Cluster {
    SHARED.get_or_init(|| Cluster::start(Settings::volatile()).expect("a cluster"))
}

fn url(cluster: &Cluster) -> String {
    let nodes: Vec<String> = cluster.nodes().iter().map(|node| node.address().to_string()).collect();
    format!("redis-cluster://{}", nodes.join(","))
}

struct RedisCluster {
    prefix: String,
    raw: Raw,
}

#[async_trait]
impl Harness for RedisCluster {
    async fn start() -> Self {
        let prefix = format!("{{test-{}}}", NEXT.fetch_add(1, Ordering::Relaxed));
        // The shard that the prefix leads to.
        for node in shared().primaries() {
            let raw = Raw::connect(&node.url()).await;
            if raw.try_ask::<i64>(&["EXISTS", &prefix]).await.is_ok() {
                return RedisCluster { prefix, raw };
            }
        }
        panic!("no primary serves {prefix}");
    }

    async fn client(&self) -> Arc<dyn LockBackend> {
        Arc::new(connected(&url(shared()), &self.prefix).await)
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

lock_conformance!(RedisCluster, [ignore = "needs Redis: cargo xtask test redis"], [store waiting]);
