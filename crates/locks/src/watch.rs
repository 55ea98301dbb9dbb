//! News that a key may have become free, from whoever learns of it to whoever waits for it.

use std::any::Any;
use std::future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_core::KeyHash;
use tokio::sync::Notify;

use crate::per_key::PerKey;

/// Waits for news about one key. A hint: it may come for nothing, and it may be lost on its way, so the one who
/// waits also asks again from time to time.
#[derive(Debug)]
pub struct Watch {
    news: Option<Arc<News>>,
    /// How much of the news this watch has told.
    told: AtomicU64,
    /// Ends with the last watch that holds it.
    _source: Option<Arc<dyn Any + Send + Sync>>,
}

/// The news of one key, for all who watch it.
#[derive(Debug, Default)]
struct News {
    /// How often there was some.
    count: AtomicU64,
    came: Notify,
}

impl Watch {
    /// For stores that send no news: the wait ends by the caller's own timer alone.
    pub fn never() -> Self {
        Watch { news: None, told: AtomicU64::new(0), _source: None }
    }

    /// Keeps alive what brings the news, for as long as somebody waits for them.
    #[must_use]
    pub fn fed_by(self, source: Arc<dyn Any + Send + Sync>) -> Self {
        Watch { _source: Some(source), ..self }
    }

    /// Ready once there was news since the last call, or since the watch was taken. Every watch of a key is told, whoever
    /// else is. Dropping it midway loses nothing.
    pub async fn freed(&self) {
        let Some(news) = &self.news else { return future::pending().await };
        loop {
            // Before the look at the count: what comes after it wakes us.
            let came = news.came.notified();
            let count = news.count.load(Ordering::Acquire);
            if self.told.swap(count, Ordering::AcqRel) != count {
                return;
            }
            came.await;
        }
    }
}

impl News {
    fn tell(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.came.notify_waiters();
    }
}

/// The watches of one backend.
#[derive(Debug, Default)]
pub struct WatchHub(PerKey<KeyHash, News>);

impl WatchHub {
    /// A watch on the key with this hash.
    pub fn watch(&self, key_hash: KeyHash) -> Watch {
        let news = self.0.join(&key_hash, News::default);
        let told = AtomicU64::new(news.count.load(Ordering::Acquire));
        Watch { news: Some(news), told, _source: None }
    }

    /// Passes the news on to all who watch the key. Of a line of waiters only the first one does.
    pub fn freed(&self, key_hash: KeyHash) {
        if let Some(news) = self.0.get(&key_hash) {
            news.tell();
        }
    }

    /// Passes on that any key may have become free: after a gap in the news.
    pub fn all_freed(&self) {
        for (_, news) in self.0.all() {
            news.tell();
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

    const PATIENCE: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn news_before_the_wait_is_not_lost() {
        let hub = WatchHub::default();
        let watch = hub.watch(KeyHash::of("a"));
        hub.freed(KeyHash::of("a"));
        tokio::time::timeout(PATIENCE, watch.freed()).await.expect("the news was kept");
    }

    #[tokio::test(start_paused = true)]
    async fn news_of_another_key_wakes_nobody() {
        let hub = WatchHub::default();
        let watch = hub.watch(KeyHash::of("a"));
        hub.freed(KeyHash::of("b"));
        assert!(tokio::time::timeout(PATIENCE, watch.freed()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn everyone_who_watches_is_told_once() {
        let hub = WatchHub::default();
        let watches = [hub.watch(KeyHash::of("a")), hub.watch(KeyHash::of("a"))];
        let [one, two] = &watches;
        let both = async { tokio::join!(one.freed(), two.freed()) };
        let (told, ()) = tokio::join!(tokio::time::timeout(PATIENCE, both), async {
            tokio::task::yield_now().await;
            hub.freed(KeyHash::of("a"));
        });
        told.expect("both are told");
        for watch in &watches {
            assert!(tokio::time::timeout(PATIENCE, watch.freed()).await.is_err(), "that was old news");
        }
        let late = hub.watch(KeyHash::of("a"));
        assert!(tokio::time::timeout(PATIENCE, late.freed()).await.is_err(), "it came after the news");
    }

    #[tokio::test(start_paused = true)]
    async fn wait_that_was_given_up_loses_no_news() {
        let hub = WatchHub::default();
        let watch = hub.watch(KeyHash::of("a"));
        assert!(tokio::time::timeout(PATIENCE, watch.freed()).await.is_err());
        hub.freed(KeyHash::of("a"));
        tokio::time::timeout(PATIENCE, watch.freed()).await.expect("the news was kept");
    }
}
