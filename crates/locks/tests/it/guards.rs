//! Guards over a store that fails, hangs or loses answers, on a clock that only tests move.

use std::sync::Arc;
use std::time::Duration;

use leasehold_core::{Class, Key, LockCode, LockId, LockRecord, ManualClock, Timestamp, Ttl};
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::backend::{Capabilities, LockBackend};
use leasehold_locks::{
    AcquireOptions, AcquireOutcome, AcquireRequest, Backoff, Config, Error, ExtendOutcome, ExtendRequest,
    Guard, Jitter, KeepOptions, ListRequest, Locks, LookupBy, Loss, OnReleaseError, ReleaseOutcome, Result,
    Retry, Watch,
};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A store whose writes a test can make fail, hang, or lose their answers.
#[derive(Debug)]
struct Faulty {
    inner: Arc<MemoryBackend>,
    faults: Mutex<Faults>,
    released: Notify,
    /// Lets a slow write be done.
    done: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Faults {
    extend: Fault,
    release: Fault,
    acquire: Fault,
    releases: u32,
    /// Number of extensions that get no answer before the others.
    silences: u32,
    /// When extensions were sent.
    extends: Vec<Instant>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Fault {
    #[default]
    None,
    /// Refused by the store; nothing happened.
    Fails,
    /// Never answered.
    Hangs,
    /// Done, and the answer lost.
    LosesAnswer,
    /// Done once the test lets it, whether or not somebody waits for the answer.
    IsSlow,
}

impl Faulty {
    fn new() -> Arc<Self> {
        let clock = ManualClock::new(Timestamp::from_millis(1_700_000_000_000));
        let inner = Arc::new(MemoryBackend::with_clock(Arc::new(clock)));
        Arc::new(Faulty {
            inner,
            faults: Mutex::default(),
            released: Notify::new(),
            done: Arc::new(Notify::new()),
        })
    }

    fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.faults.lock());
    }

    fn releases(&self) -> u32 {
        self.faults.lock().releases
    }
}

async fn through<T: Send + 'static>(
    operation: &'static str,
    fault: Fault,
    done: &Arc<Notify>,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match fault {
        Fault::None => work.await,
        Fault::Fails => Err(Error::Store {
            operation,
            lock_code: LockCode::ServiceUnavailable,
            source: "told to fail".into(),
        }),
        Fault::Hangs => std::future::pending().await,
        Fault::LosesAnswer => {
            work.await?;
            Err(Error::Indeterminate { operation, source: "told to lose the answer".into() })
        }
        Fault::IsSlow => {
            let done = done.clone();
            let doing = tokio::spawn(async move {
                done.notified().await;
                work.await
            });
            doing.await.expect("the memory does not panic")
        }
    }
}

#[async_trait::async_trait]
impl LockBackend for Faulty {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let fault = self.faults.lock().acquire;
        let (inner, request) = (self.inner.clone(), request.clone());
        through("acquire", fault, &self.done, async move { inner.acquire(&request).await }).await
    }
    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        let fault = {
            let mut faults = self.faults.lock();
            faults.extends.push(Instant::now());
            match faults.silences.checked_sub(1) {
                Some(left) => {
                    faults.silences = left;
                    Fault::Hangs
                }
                None => faults.extend,
            }
        };
        let (inner, request) = (self.inner.clone(), *request);
        through("extend", fault, &self.done, async move { inner.extend(&request).await }).await
    }
    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let fault = {
            let mut faults = self.faults.lock();
            faults.releases += 1;
            faults.release
        };
        self.released.notify_one();
        let (inner, lock_id) = (self.inner.clone(), *lock_id);
        through("release", fault, &self.done, async move { inner.release(&lock_id).await }).await
    }
    async fn is_locked(&self, key: &Key) -> Result<bool> {
        self.inner.is_locked(key).await
    }
    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        self.inner.lookup(by).await
    }
    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        self.inner.list(request).await
    }
    async fn watch(&self, key: &Key) -> Watch {
        self.inner.watch(key).await
    }
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }
}

/// A store that sends no news.
#[derive(Debug)]
struct Silent(Arc<Faulty>);

#[async_trait::async_trait]
impl LockBackend for Silent {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        self.0.acquire(request).await
    }
    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        self.0.extend(request).await
    }
    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        self.0.release(lock_id).await
    }
    async fn is_locked(&self, key: &Key) -> Result<bool> {
        self.0.is_locked(key).await
    }
    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        self.0.lookup(by).await
    }
    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        self.0.list(request).await
    }
    async fn watch(&self, _: &Key) -> Watch {
        Watch::never()
    }
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
}

fn key() -> Key {
    Key::parse("customer:4711").expect("is a key")
}

fn locks(store: &Arc<Faulty>) -> Locks {
    Locks::with_config(store.clone(), Config::default())
}

async fn guard(locks: &Locks) -> Guard {
    locks.acquire(&key(), &AcquireOptions::default()).await.expect("is free")
}

/// Locks that tell of the releases nobody awaited.
fn telling(
    store: &Arc<Faulty>,
    config: Config,
) -> (Locks, mpsc::UnboundedReceiver<(&'static str, Key, LockId)>) {
    let (telling, told) = mpsc::unbounded_channel();
    let on_release_error = OnReleaseError::call(move |error, context| {
        let _ = telling.send((error.code(), context.key.clone(), context.lock_id));
    });
    (Locks::with_config(store.clone(), Config { on_release_error, ..config }), told)
}

#[test]
fn defaults_are_syncguards() {
    let options = AcquireOptions::default();
    assert_eq!((options.ttl.as_millis(), options.timeout), (30_000, Duration::from_secs(5)));
    let Retry { retries_max, delay, backoff, jitter, .. } = options.retry;
    assert_eq!((retries_max, delay), (10, Duration::from_millis(100)));
    assert_eq!((backoff, jitter), (Backoff::Exponential, Jitter::Equal));
}

#[tokio::test(start_paused = true)]
async fn loss_is_told_before_the_lease_ends_when_the_store_cannot_be_reached() {
    for fault in [Fault::Fails, Fault::Hangs, Fault::LosesAnswer] {
        let store = Faulty::new();
        let locks = locks(&store);
        let started = Instant::now();
        let kept = guard(&locks).await.keep(KeepOptions::default()).await.unwrap();
        store.set(|faults| faults.extend = fault);
        assert_eq!(kept.lost().await, Loss::Unconfirmed, "{fault:?}");
        let (told_after, ttl) = (started.elapsed(), Duration::from_secs(30));
        assert!(told_after < ttl, "{fault:?}: told after {told_after:?} of {ttl:?}");
        assert!(told_after >= ttl * 8 / 10, "{fault:?}: given up after {told_after:?} of {ttl:?}");
        store.set(|faults| faults.release = Fault::None);
        kept.dispose().await;
    }
}

#[tokio::test(start_paused = true)]
async fn store_that_comes_back_in_time_costs_nothing() {
    let store = Faulty::new();
    let kept = guard(&locks(&store)).await.keep(KeepOptions::default()).await.unwrap();
    store.set(|faults| faults.extend = Fault::Fails);
    tokio::time::sleep(Duration::from_secs(20)).await;
    store.set(|faults| faults.extend = Fault::None);
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(!kept.is_lost());
    assert_eq!(kept.release().await.unwrap(), ReleaseOutcome::Released);
}

/// Two connections in a row that take an extension and never answer, also when little is left of the lease.
#[tokio::test(start_paused = true)]
async fn silent_connections_do_not_cost_the_lock() {
    for (failing_for, lost_before) in [(0, 0.1), (0, 0.4), (24, 0.1)] {
        let store = Faulty::new();
        let options = KeepOptions { lost_before, ..KeepOptions::default() };
        let kept = guard(&locks(&store)).await.keep(options).await.unwrap();
        store.set(|faults| faults.extend = Fault::Fails);
        tokio::time::sleep(Duration::from_secs(failing_for)).await;
        store.set(|faults| (faults.extend, faults.silences) = (Fault::None, 2));
        tokio::time::sleep(Duration::from_secs(300)).await;
        assert_eq!((kept.is_lost(), store.faults.lock().silences), (false, 0), "{failing_for} {lost_before}");
        assert_eq!(kept.release().await.unwrap(), ReleaseOutcome::Released);
    }
}

#[tokio::test(start_paused = true)]
async fn three_silent_attempts_share_the_time_until_the_loss() {
    let store = Faulty::new();
    let kept = guard(&locks(&store)).await.keep(KeepOptions::default()).await.unwrap();
    store.set(|faults| faults.extend = Fault::Hangs);
    assert_eq!(kept.lost().await, Loss::Unconfirmed);
    let mut sent = std::mem::take(&mut store.faults.lock().extends);
    sent.push(Instant::now());
    let waits: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let [first, second, third] = waits[..] else { panic!("{waits:?}") };
    for other in [second, third] {
        // The timer counts in whole milliseconds.
        assert!(first.abs_diff(other) <= Duration::from_millis(3), "{waits:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn hold_max_ends_a_hold_that_could_go_on() {
    let store = Faulty::new();
    // Between two extensions, and before the first one is due.
    for seconds in [100, 2] {
        let hold_max = Duration::from_secs(seconds);
        let started = Instant::now();
        let guard = guard(&locks(&store)).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let options = KeepOptions { hold_max: Some(hold_max), ..KeepOptions::default() };
        let kept = guard.keep(options).await.unwrap();
        assert_eq!(kept.lost().await, Loss::HoldMax);
        // The timer counts in whole milliseconds.
        let late = started.elapsed().checked_sub(hold_max).expect("not before");
        assert!(late <= Duration::from_millis(2), "{late:?} after {hold_max:?}");
        kept.release().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn hold_max_is_told_as_such_while_the_store_cannot_be_reached() {
    let store = Faulty::new();
    let options = KeepOptions { hold_max: Some(Duration::from_secs(15)), ..KeepOptions::default() };
    let kept = guard(&locks(&store)).await.keep(options).await.unwrap();
    store.set(|faults| faults.extend = Fault::Hangs);
    assert_eq!(kept.lost().await, Loss::HoldMax);
}

#[tokio::test(start_paused = true)]
async fn held_key_is_asked_for_once_and_as_often_again_as_allowed() {
    for retries_max in [0, 1, 2, 5] {
        let store = Faulty::new();
        let held = guard(&locks(&store)).await;
        let retry = Retry { retries_max, ..Retry::default() };
        let options = AcquireOptions::default().timeout(Duration::from_secs(3_600)).retry(retry);
        let refused = locks(&store).acquire(&key(), &options).await.unwrap_err();
        let Error::AcquisitionTimeout { attempts, .. } = refused else { panic!("{refused:?}") };
        assert_eq!(attempts, retries_max + 1);
        held.release().await.unwrap();
    }
}

/// A store without news, whose holder goes on without an end: the waiter asks every two seconds at the latest.
#[tokio::test(start_paused = true)]
async fn waiter_without_news_finds_a_free_key_soon_however_long_it_waited() {
    let store = Faulty::new();
    let silent = Locks::with_config(Arc::new(Silent(store.clone())), Config::default());
    let held = locks(&store).acquire(&key(), &AcquireOptions::default().ttl(Ttl::MAX)).await.unwrap();
    let retry = Retry { retries_max: u32::MAX, ..Retry::default() };
    let options = AcquireOptions::default().timeout(Duration::from_secs(3_600)).retry(retry);
    let released = async {
        tokio::time::sleep(Duration::from_secs(100)).await;
        held.release().await.unwrap();
        Instant::now()
    };
    let taken = async {
        let guard = silent.acquire(&key(), &options).await.unwrap();
        (guard, Instant::now())
    };
    let ((_guard, taken_at), released_at) = tokio::join!(taken, released);
    assert!(taken_at - released_at <= Duration::from_millis(2_002), "{:?}", taken_at - released_at);
}

#[tokio::test(start_paused = true)]
async fn hold_under_a_repeated_id_is_confirmed_before_it_is_kept() {
    let store = Faulty::new();
    let locks = locks(&store);
    let options = AcquireOptions::default().lock_id(LockId::generate().unwrap());
    let first = locks.acquire(&key(), &options).await.unwrap();
    first.forget();
    let again = locks.acquire(&key(), &options).await.unwrap();
    locks.release(again.lock_id()).await.unwrap();
    let refused = again.keep(KeepOptions::default()).await.unwrap_err();
    assert_eq!(refused.code(), "lock.ended");
}

#[tokio::test]
async fn unknown_acquire_with_our_id_is_given_back() {
    let store = Faulty::new();
    store.set(|faults| faults.acquire = Fault::LosesAnswer);
    let refused = locks(&store).acquire(&key(), &AcquireOptions::default()).await.unwrap_err();
    assert!(matches!(refused, Error::Indeterminate { .. }), "{refused:?}");
    store.released.notified().await;
    store.set(|faults| faults.acquire = Fault::None);
    guard(&locks(&store)).await.release().await.unwrap();
}

/// The store does what was sent after the caller has gone; a release before that would find nothing.
#[tokio::test]
async fn dropped_acquire_is_given_back_once_it_is_done() {
    let store = Faulty::new();
    store.set(|faults| faults.acquire = Fault::IsSlow);
    let impatient = locks(&store);
    let given_up = tokio::time::timeout(Duration::ZERO, impatient.try_acquire(&key(), Ttl::DEFAULT)).await;
    given_up.expect_err("the store has not answered");
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.releases(), 0, "nothing to give back yet");
    store.done.notify_one();
    store.released.notified().await;
    store.set(|faults| faults.acquire = Fault::None);
    guard(&locks(&store)).await.release().await.unwrap();
}

#[tokio::test]
async fn dropped_acquire_of_a_held_key_releases_nothing() {
    let store = Faulty::new();
    let held = guard(&locks(&store)).await;
    store.set(|faults| faults.acquire = Fault::IsSlow);
    let impatient = locks(&store);
    let given_up = tokio::time::timeout(Duration::ZERO, impatient.try_acquire(&key(), Ttl::DEFAULT)).await;
    given_up.expect_err("the store has not answered");
    drop(impatient);
    store.done.notify_one();
    // The request in the background is the last to know the store by those locks.
    while Arc::strong_count(&store) > 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.releases(), 0);
    held.release().await.unwrap();
}

#[tokio::test]
async fn unknown_acquire_with_the_callers_id_is_left_to_the_caller() {
    let store = Faulty::new();
    let options = AcquireOptions::default().lock_id(LockId::generate().unwrap());
    store.set(|faults| faults.acquire = Fault::LosesAnswer);
    locks(&store).acquire(&key(), &options).await.unwrap_err();
    store.set(|faults| faults.acquire = Fault::None);
    let guard = locks(&store).acquire(&key(), &options).await.unwrap();
    assert_eq!((guard.fence().as_u64(), store.releases()), (1, 0), "the same grant, and nobody gave it back");
    guard.release().await.unwrap();
}

#[tokio::test]
async fn manual_release_returns_its_error_and_reports_nothing() {
    let store = Faulty::new();
    let (locks, mut told) = telling(&store, Config::default());
    let guard = guard(&locks).await;
    store.set(|faults| faults.release = Fault::Fails);
    assert_eq!(guard.release().await.unwrap_err().code(), "lock.unavailable");
    assert_eq!(
        (store.releases(), told.try_recv().is_err()),
        (1, true),
        "one attempt, told to the caller alone"
    );
}

#[tokio::test]
async fn failed_disposal_and_failed_drop_are_reported_with_their_context() {
    let store = Faulty::new();
    let (locks, mut told) = telling(&store, Config::default());
    for dropped in [false, true] {
        let guard = guard(&locks).await;
        let lock_id = *guard.lock_id();
        store.set(|faults| faults.release = Fault::Fails);
        match dropped {
            false => guard.dispose().await,
            true => drop(guard),
        }
        assert_eq!(told.recv().await.unwrap(), ("lock.unavailable", key(), lock_id));
        store.set(|faults| faults.release = Fault::None);
        locks.release(&lock_id).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn disposal_stops_waiting_at_its_timeout_and_reports_it_only_when_asked() {
    for report in [false, true] {
        let store = Faulty::new();
        let config = Config {
            release_timeout: Some(Duration::from_secs(3)),
            report_release_timeout: report,
            ..Config::default()
        };
        let (locks, mut told) = telling(&store, config);
        let guard = guard(&locks).await;
        store.set(|faults| faults.release = Fault::Hangs);
        let started = Instant::now();
        guard.dispose().await;
        assert_eq!(started.elapsed(), Duration::from_secs(3));
        assert_eq!(told.try_recv().ok().map(|(code, ..)| code), report.then_some("lock.release_timeout"));
    }
}

#[tokio::test]
async fn panic_in_the_report_does_not_reach_the_caller() {
    let store = Faulty::new();
    let on_release_error = OnReleaseError::call(|_, _| panic!("broken callback"));
    let locks = Locks::with_config(store.clone(), Config { on_release_error, ..Config::default() });
    let guard = guard(&locks).await;
    store.set(|faults| faults.release = Fault::Fails);
    guard.dispose().await;
}

#[test]
fn guard_dropped_outside_a_runtime_only_leaves_its_ttl() {
    let store = Faulty::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let guard = runtime.block_on(async { guard(&locks(&store)).await });
    drop(runtime);
    drop(guard);
    assert_eq!(store.releases(), 0);
}

#[tokio::test]
async fn cancelled_write_that_was_sent_is_of_unknown_outcome() {
    let store = Faulty::new();
    let guard = guard(&locks(&store)).await;
    store.set(|faults| (faults.extend, faults.release) = (Fault::Hangs, Fault::Hangs));
    let aborted = |error: Error| {
        let (code, lock_code, class) = (error.code(), error.lock_code(), error.class());
        assert_eq!((code, lock_code, class), ("lock.aborted", LockCode::Aborted, Class::Indeterminate));
    };
    let cancel = CancellationToken::new();
    let cancelled = locks(&store).cancelled_by(cancel.clone());
    let (extended, ()) =
        tokio::join!(cancelled.extend(guard.lock_id(), Ttl::DEFAULT), async { cancel.cancel() });
    aborted(extended.unwrap_err());
    let cancel = CancellationToken::new();
    let cancelled = locks(&store).cancelled_by(cancel.clone());
    let (released, ()) = tokio::join!(cancelled.release(guard.lock_id()), async { cancel.cancel() });
    aborted(released.unwrap_err());
    guard.forget();
}

#[test]
fn guard_that_cannot_be_released_warns_without_key_and_id() {
    let store = Faulty::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let guard = runtime.block_on(async { guard(&locks(&store)).await });
    let lock_id = guard.lock_id().as_str().to_owned();
    let logged = Logged::default();
    let _second = tracing::Dispatch::new(Logged::default());
    let _heard = tracing::subscriber::set_default(logged.clone());
    drop(guard);
    let logged = logged.0.lock().clone();
    assert!(logged.starts_with("WARN ") && logged.contains(&key().key_hash().to_string()), "{logged}");
    assert!(!logged.contains("4711") && !logged.contains(&lock_id), "{logged}");
}

#[tokio::test]
async fn default_report_names_neither_key_nor_id() {
    let logged = Logged::default();
    // With one subscriber in the process, tracing asks the thread that first comes by a warning whether it is wanted, and
    // remembers that for all: it may be a thread of another test, which has none.
    let _second = tracing::Dispatch::new(Logged::default());
    let _heard = tracing::subscriber::set_default(logged.clone());
    let store = Faulty::new();
    let guard = guard(&locks(&store)).await;
    let lock_id = guard.lock_id().as_str().to_owned();
    store.set(|faults| faults.release = Fault::Fails);
    guard.dispose().await;
    let logged = logged.0.lock().clone();
    assert!(logged.contains("lock.unavailable") && logged.contains("was not released"), "{logged}");
    assert_eq!(logged.matches("WARN ").count(), 1, "{logged}");
    assert!(!logged.contains("4711") && !logged.contains(&lock_id), "{logged}");
}

/// What was logged in this thread, with all fields.
#[derive(Debug, Clone, Default)]
struct Logged(Arc<Mutex<String>>);

impl tracing::Subscriber for Logged {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut logged = self.0.lock();
        logged.push_str(&format!("{} ", event.metadata().level()));
        event.record(&mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
            logged.push_str(&format!("{field}={value:?} "));
        });
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn ttl_of_a_guard_may_be_as_long_as_a_ttl_can_be() {
    let store = Faulty::new();
    let options = AcquireOptions::default().ttl(Ttl::MAX);
    let kept =
        locks(&store).acquire(&key(), &options).await.unwrap().keep(KeepOptions::default()).await.unwrap();
    assert!(!kept.is_lost());
    kept.release().await.unwrap();
}
