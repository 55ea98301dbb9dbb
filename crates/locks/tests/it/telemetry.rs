//! One event for each operation that returned, with what it may show and nothing else.

use std::sync::Arc;

use leasehold_core::{Key, KeyHash, LockCode, LockId, LockRecord, Ttl};
use leasehold_locks::backend::memory::MemoryBackend;
use leasehold_locks::backend::{Capabilities, LockBackend};
use leasehold_locks::{
    AcquireOptions, AcquireOutcome, AcquireRequest, Config, Error, Event, ExtendOutcome, ExtendRequest,
    IncludeRaw, ListRequest, Locks, LookupBy, Operation, ReleaseOutcome, Result, Telemetry, Watch,
};
use parking_lot::Mutex;

type Told = Arc<Mutex<Vec<Event>>>;

fn locks(include_raw: IncludeRaw) -> (Locks, Told) {
    let told = Told::default();
    let telling = told.clone();
    let telemetry =
        Telemetry::new(Arc::new(MemoryBackend::default()), move |event| telling.lock().push(event.clone()))
            .include_raw(include_raw);
    (Locks::with_config(Arc::new(telemetry), Config::default()), told)
}

fn key() -> Key {
    Key::parse("customer:4711").expect("is a key")
}

fn take(told: &Told) -> Event {
    let mut told = told.lock();
    assert_eq!(told.len(), 1, "exactly one event: {told:?}");
    told.remove(0)
}

fn event(operation: Operation, ok: bool, reason: Option<&'static str>) -> Event {
    Event { operation, ok, reason, key_hash: None, lock_id_hash: None, key: None, lock_id: None }
}

#[tokio::test]
async fn every_operation_tells_its_result_and_reason_by_hash() {
    let (locks, told) = locks(IncludeRaw::Never);
    let key_hash = Some(KeyHash::of("customer:4711"));

    let guard = locks.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().unwrap();
    let lock_id_hash = Some(guard.lock_id().lock_id_hash());
    assert_eq!(take(&told), Event { key_hash, ..event(Operation::Acquire, true, None) });
    assert!(locks.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().is_none());
    assert_eq!(take(&told), Event { key_hash, ..event(Operation::Acquire, false, Some("locked")) });

    locks.is_locked(&key()).await.unwrap();
    assert_eq!(take(&told), Event { key_hash, ..event(Operation::IsLocked, true, None) });
    locks.get_by_key(&key()).await.unwrap();
    assert_eq!(take(&told), Event { key_hash, ..event(Operation::Lookup, true, None) });
    locks.get_by_id(guard.lock_id()).await.unwrap();
    assert_eq!(take(&told), Event { lock_id_hash, ..event(Operation::Lookup, true, None) });

    // Guards are bound to the decorated backend: what they do is told too.
    guard.extend(Ttl::DEFAULT).await.unwrap();
    assert_eq!(take(&told), Event { lock_id_hash, ..event(Operation::Extend, true, None) });
    let lock_id = *guard.lock_id();
    guard.release().await.unwrap();
    assert_eq!(take(&told), Event { lock_id_hash, ..event(Operation::Release, true, None) });

    locks.release(&lock_id).await.unwrap();
    assert_eq!(take(&told), Event { lock_id_hash, ..event(Operation::Release, false, Some("not-found")) });
    locks.extend(&lock_id, Ttl::DEFAULT).await.unwrap();
    assert_eq!(take(&told), Event { lock_id_hash, ..event(Operation::Extend, false, Some("not-found")) });
    locks.is_locked(&key()).await.unwrap();
    assert_eq!(take(&told), Event { key_hash, ..event(Operation::IsLocked, false, None) });
}

#[tokio::test]
async fn raw_fields_come_only_when_asked_for() {
    let (locks, told) = locks(IncludeRaw::Always);
    let guard = locks.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().unwrap();
    let acquired = take(&told);
    assert_eq!((acquired.key, acquired.lock_id), (Some(key()), Some(*guard.lock_id())));
    assert!(locks.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().is_none());
    assert_eq!(take(&told).lock_id, None, "a refused acquire has no id to show");
    let lock_id = *guard.lock_id();
    guard.release().await.unwrap();
    let released = take(&told);
    assert_eq!((released.key, released.lock_id), (None, Some(lock_id)));
}

#[tokio::test]
async fn predicate_decides_on_the_event_without_raw_fields_and_its_panic_means_no() {
    let only_refusals = |event: &Event| {
        assert!(event.key.is_none() && event.lock_id.is_none());
        !event.ok
    };
    let (choosy, told) = locks(IncludeRaw::If(Box::new(only_refusals)));
    let guard = choosy.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().unwrap();
    assert_eq!(take(&told).key, None);
    assert!(choosy.try_acquire(&key(), Ttl::DEFAULT).await.unwrap().is_none());
    assert_eq!(take(&told).key, Some(key()));
    guard.release().await.unwrap();

    let (broken, told) = locks(IncludeRaw::If(Box::new(|_| panic!("broken predicate"))));
    broken.is_locked(&key()).await.unwrap();
    assert_eq!(take(&told).key, None);
}

#[tokio::test]
async fn panic_in_the_callback_changes_nothing() {
    let telemetry = Telemetry::new(Arc::new(MemoryBackend::default()), |_| panic!("broken callback"));
    let locks = Locks::with_config(Arc::new(telemetry), Config::default());
    let guard = locks.acquire(&key(), &AcquireOptions::default()).await.unwrap();
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released);
}

#[tokio::test]
async fn operation_that_fails_tells_nothing() {
    let told = Told::default();
    let telling = told.clone();
    let telemetry = Telemetry::new(Arc::new(Failing), move |event| telling.lock().push(event.clone()));
    let locks = Locks::with_config(Arc::new(telemetry), Config::default());
    let lock_id = LockId::generate().unwrap();
    assert!(locks.is_locked(&key()).await.is_err());
    assert!(locks.release(&lock_id).await.is_err());
    assert!(locks.extend(&lock_id, Ttl::DEFAULT).await.is_err());
    assert!(locks.get_by_id(&lock_id).await.is_err());
    assert!(locks.try_acquire(&key(), Ttl::DEFAULT).await.is_err());
    assert_eq!(*told.lock(), []);
}

/// A store that is down.
#[derive(Debug)]
struct Failing;

fn down<T>(operation: &'static str) -> Result<T> {
    Err(Error::Store { operation, lock_code: LockCode::ServiceUnavailable, source: "down".into() })
}

#[async_trait::async_trait]
impl LockBackend for Failing {
    async fn acquire(&self, _: &AcquireRequest) -> Result<AcquireOutcome> {
        down("acquire")
    }
    async fn extend(&self, _: &ExtendRequest) -> Result<ExtendOutcome> {
        down("extend")
    }
    async fn release(&self, _: &LockId) -> Result<ReleaseOutcome> {
        down("release")
    }
    async fn is_locked(&self, _: &Key) -> Result<bool> {
        down("is_locked")
    }
    async fn lookup(&self, _: LookupBy<'_>) -> Result<Option<LockRecord>> {
        down("lookup")
    }
    async fn list(&self, _: &ListRequest) -> Result<Vec<LockRecord>> {
        down("list")
    }
    async fn watch(&self, _: &Key) -> Watch {
        Watch::never()
    }
    fn capabilities(&self) -> Capabilities {
        MemoryBackend::default().capabilities()
    }
}
