//! News that a key may have become free, from whoever learns of it to whoever waits for it.

use std::future;
use std::sync::Arc;

use leasehold_core::KeyHash;
use tokio::sync::Notify;

use crate::per_key::PerKey;

/// Waits for news about one key. A hint: it may come for nothing, and it may be lost on its way, so the one who
/// waits also asks again from time to time.
#[derive(Debug)]
pub struct Watch(Option<Arc<Notify>>);

impl Watch {
    /// For stores that send no news: the wait ends by the caller's own timer alone.
    pub fn never() -> Self {
        Watch(None)
    }

    /// Ready once there was news since the last call, or since the watch was taken. Dropping it midway loses
    /// nothing.
    pub async fn freed(&self) {
        match &self.0 {
            Some(notify) => notify.notified().await,
            None => future::pending().await,
        }
    }
}

/// The watches of one backend.
#[derive(Debug, Default)]
pub struct WatchHub(PerKey<Notify>);

impl WatchHub {
    /// A watch on the key with this hash.
    pub fn watch(&self, key_hash: KeyHash) -> Watch {
        Watch(Some(self.0.join(key_hash, Notify::new)))
    }

    /// Passes the news on. One waiter is enough: it stands for those in line behind it.
    pub fn freed(&self, key_hash: KeyHash) {
        if let Some(notify) = self.0.get(key_hash) {
            notify.notify_one();
        }
    }

    /// Passes on that any key may have become free: after a gap in the news.
    pub fn all_freed(&self) {
        for (_, notify) in self.0.all() {
            notify.notify_one();
        }
    }

    /// The keys somebody here waits for.
    pub fn watched(&self) -> Vec<KeyHash> {
        self.0.all().into_iter().map(|(key_hash, _)| key_hash).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn news_before_the_wait_is_not_lost() {
        let hub = WatchHub::default();
        let watch = hub.watch(KeyHash::of("a"));
        hub.freed(KeyHash::of("a"));
        tokio::time::timeout(Duration::from_secs(5), watch.freed()).await.expect("the news was kept");
    }

    #[tokio::test(start_paused = true)]
    async fn news_of_another_key_wakes_nobody() {
        let hub = WatchHub::default();
        let watch = hub.watch(KeyHash::of("a"));
        hub.freed(KeyHash::of("b"));
        assert!(tokio::time::timeout(Duration::from_secs(5), watch.freed()).await.is_err());
    }
}
