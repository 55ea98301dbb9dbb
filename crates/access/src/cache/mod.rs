//! What was read from a store and need not be read again.

mod bounded;

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;

pub(crate) use self::bounded::Bounded;

/// Values read from a store. Who misses the same one at the same time shares one reading of it.
///
/// A reading that a change overtook may have seen what was before it: it is not kept, and nobody who asks after the
/// change is given it.
pub(crate) struct Cache<K, V, E> {
    state: Mutex<State<K, V, E>>,
}

struct State<K, V, E> {
    kept: Bounded<K, V>,
    /// Those that began after the last change and that somebody waits for.
    readings: HashMap<K, WeakShared<Reading<V, E>>>,
    /// Grows with each change that was told.
    age: u64,
}

type Reading<V, E> = BoxFuture<'static, Result<V, E>>;

impl<K, V, E> Cache<K, V, E>
where
    K: Hash + Eq + Clone,
    V: Clone + Send + Sync + 'static,
    E: Clone + Send + Sync + 'static,
{
    /// Keeps at most `len_max` values, each for `lifetime`.
    pub(crate) fn new(len_max: usize, lifetime: Duration) -> Self {
        let kept = Bounded::new(len_max, lifetime);
        Self { state: Mutex::new(State { kept, readings: HashMap::new(), age: 0 }) }
    }

    /// The value if it is kept, else what `read` answers. Failures are not kept.
    ///
    /// Dropping the call stops the reading, unless another call waits for it too.
    pub(crate) async fn get_or_read<R>(&self, key: K, now: Instant, read: impl FnOnce() -> R) -> Result<V, E>
    where
        R: Future<Output = Result<V, E>> + Send + 'static,
    {
        let (reading, age) = {
            let mut state = self.state.lock();
            if let Some(value) = state.kept.get(&key, now) {
                return Ok(value);
            }
            let under_way = state.readings.get(&key).and_then(WeakShared::upgrade);
            let reading = under_way.unwrap_or_else(|| state.begin(key.clone(), read().boxed()));
            (reading, state.age)
        };
        let result = reading.await;
        let mut state = self.state.lock();
        if state.age == age {
            state.readings.remove(&key);
            if let Ok(value) = &result {
                state.kept.insert(key, value.clone(), now);
            }
        }
        result
    }

    /// Forgets the values that a change may have made wrong.
    pub(crate) fn retain(&self, keep: impl Fn(&V) -> bool) {
        let mut state = self.state.lock();
        state.age += 1;
        state.readings.clear();
        state.kept.retain(keep);
    }
}

impl<K: Hash + Eq, V: Clone, E: Clone> State<K, V, E> {
    fn begin(&mut self, key: K, reading: Reading<V, E>) -> Shared<Reading<V, E>> {
        let reading = reading.shared();
        let weak = reading.downgrade().expect("it was not polled yet");
        self.readings.retain(|_, reading| reading.upgrade().is_some());
        self.readings.insert(key, weak);
        reading
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    type TestCache = Cache<&'static str, usize, &'static str>;

    const LIFETIME: Duration = Duration::from_secs(100);

    fn cache() -> Arc<TestCache> {
        Arc::new(Cache::new(10, LIFETIME))
    }

    /// Counts readings; each waits until it is let through.
    #[derive(Clone, Default)]
    struct Slow {
        begun: Arc<AtomicUsize>,
        began: Arc<Notify>,
        gate: Arc<Notify>,
    }

    impl Slow {
        async fn began(&self) {
            let began = tokio::time::timeout(Duration::from_secs(10), self.began.notified()).await;
            began.expect("a reading begins");
        }

        async fn read(self) -> Result<usize, &'static str> {
            let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
            self.began.notify_one();
            self.gate.notified().await;
            Ok(number)
        }

        fn asked(
            &self,
            cache: &Arc<TestCache>,
            now: Instant,
        ) -> tokio::task::JoinHandle<Result<usize, &'static str>> {
            let (slow, cache) = (self.clone(), cache.clone());
            tokio::spawn(async move { cache.get_or_read("key", now, || slow.read()).await })
        }
    }

    #[tokio::test]
    async fn those_who_miss_together_read_once() {
        let (cache, slow, now) = (cache(), Slow::default(), Instant::now());
        let first = slow.asked(&cache, now);
        slow.began().await;
        let others: Vec<_> = (0..20).map(|_| slow.asked(&cache, now)).collect();
        tokio::task::yield_now().await;
        slow.gate.notify_waiters();
        assert_eq!(first.await.expect("runs"), Ok(1));
        for other in others {
            assert_eq!(other.await.expect("runs"), Ok(1));
        }
        assert_eq!(slow.begun.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn reading_goes_on_when_the_one_who_began_it_is_gone() {
        let (cache, slow, now) = (cache(), Slow::default(), Instant::now());
        let first = slow.asked(&cache, now);
        slow.began().await;
        let second = slow.asked(&cache, now);
        tokio::task::yield_now().await;
        first.abort();
        assert!(first.await.expect_err("aborted").is_cancelled());
        slow.gate.notify_waiters();
        assert_eq!(second.await.expect("runs"), Ok(1));
    }

    #[tokio::test]
    async fn reading_that_nobody_waits_for_any_more_is_begun_anew() {
        let (cache, slow, now) = (cache(), Slow::default(), Instant::now());
        let first = slow.asked(&cache, now);
        slow.began().await;
        first.abort();
        assert!(first.await.expect_err("aborted").is_cancelled());
        let second = slow.asked(&cache, now);
        slow.began().await;
        slow.gate.notify_waiters();
        assert_eq!(second.await.expect("runs"), Ok(2));
    }

    #[tokio::test]
    async fn reading_that_a_change_overtook_is_neither_joined_nor_kept() {
        let (cache, slow, now) = (cache(), Slow::default(), Instant::now());
        let before = slow.asked(&cache, now);
        slow.began().await;
        cache.retain(|_| true);
        let after = slow.asked(&cache, now);
        slow.began().await;
        slow.gate.notify_waiters();
        assert_eq!(before.await.expect("runs"), Ok(1));
        assert_eq!(after.await.expect("runs"), Ok(2));
        let kept = cache.get_or_read("key", now, || async { Err("read again") }).await;
        assert_eq!(kept, Ok(2));
    }

    #[tokio::test]
    async fn change_during_a_reading_makes_the_next_one_read_again() {
        let (cache, slow, now) = (cache(), Slow::default(), Instant::now());
        let before = slow.asked(&cache, now);
        slow.began().await;
        cache.retain(|_| true);
        slow.gate.notify_waiters();
        assert_eq!(before.await.expect("runs"), Ok(1));
        assert_eq!(cache.get_or_read("key", now, || async { Ok(9) }).await, Ok(9));
    }

    #[tokio::test]
    async fn failure_is_not_kept() {
        let (cache, now) = (cache(), Instant::now());
        assert_eq!(cache.get_or_read("key", now, || async { Err("down") }).await, Err("down"));
        assert_eq!(cache.get_or_read("key", now, || async { Ok(7) }).await, Ok(7));
        assert_eq!(cache.get_or_read("key", now, || async { Err("not asked") }).await, Ok(7));
    }

    #[tokio::test]
    async fn value_is_read_again_when_its_life_is_over_or_it_was_dropped() {
        let (cache, now) = (cache(), Instant::now());
        assert_eq!(cache.get_or_read("key", now, || async { Ok(1) }).await, Ok(1));
        assert_eq!(cache.get_or_read("key", now + LIFETIME, || async { Ok(2) }).await, Ok(2));
        cache.retain(|value| *value != 2);
        assert_eq!(cache.get_or_read("key", now, || async { Ok(3) }).await, Ok(3));
    }
}
