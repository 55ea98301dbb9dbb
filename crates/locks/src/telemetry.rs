//! One event for each operation that returned. Without the decorator none of this runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::{Key, KeyHash, LockId, LockRecord, Refusal};

use crate::backend::Capabilities;
use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LockBackend, LookupBy,
    ReleaseOutcome, Result, Watch,
};

/// Wraps a backend and tells of its operations. Guards given out over it tell of their releases and extensions
/// too. An operation that fails with an error tells nothing.
pub struct Telemetry {
    backend: Arc<dyn LockBackend>,
    on_event: Box<dyn Fn(&Event) + Send + Sync>,
    include_raw: IncludeRaw,
}

/// The operation an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A key was asked for.
    Acquire,
    /// A hold was to be ended.
    Release,
    /// A hold was to last longer.
    Extend,
    /// Somebody asked whether a key is held.
    IsLocked,
    /// A hold was looked up.
    Lookup,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The operation.
    pub operation: Operation,
    /// Acquired, released, extended, locked or found.
    pub ok: bool,
    /// Why not: `locked`, `expired` or `not-found`.
    pub reason: Option<&'static str>,
    /// For operations on a key.
    pub key_hash: Option<KeyHash>,
    /// For operations on a lock id.
    pub lock_id_hash: Option<KeyHash>,
    /// The raw key, if asked for.
    pub key: Option<Key>,
    /// The raw lock id, if asked for.
    pub lock_id: Option<LockId>,
}

/// Whether events carry raw keys and lock ids.
pub enum IncludeRaw {
    /// Hashes only.
    Never,
    /// Always.
    Always,
    /// Where the function says so; it sees the event without raw fields. If it panics, no.
    If(Box<dyn Fn(&Event) -> bool + Send + Sync>),
}

impl Operation {
    /// The event type in SyncGuard's words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Operation::Acquire => "acquire",
            Operation::Release => "release",
            Operation::Extend => "extend",
            Operation::IsLocked => "isLocked",
            Operation::Lookup => "lookup",
        }
    }
}

impl Telemetry {
    /// Tells `on_event` of every operation. A panic in it is swallowed.
    pub fn new(backend: Arc<dyn LockBackend>, on_event: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Telemetry { backend, on_event: Box::new(on_event), include_raw: IncludeRaw::Never }
    }

    /// With raw keys and lock ids.
    pub fn include_raw(self, include_raw: IncludeRaw) -> Self {
        Telemetry { include_raw, ..self }
    }

    fn tell(&self, event: Event, key: Option<&Key>, lock_id: Option<&LockId>) {
        let raw = match &self.include_raw {
            IncludeRaw::Never => false,
            IncludeRaw::Always => true,
            IncludeRaw::If(predicate) => {
                catch_unwind(AssertUnwindSafe(|| predicate(&event))).unwrap_or(false)
            }
        };
        let event = match raw {
            true => Event { key: key.cloned(), lock_id: lock_id.copied(), ..event },
            false => event,
        };
        drop(catch_unwind(AssertUnwindSafe(|| (self.on_event)(&event))));
    }

    fn tell_of_key(&self, operation: Operation, key: &Key, ok: bool) {
        self.tell(Event { key_hash: Some(key.key_hash()), ..Event::new(operation, ok) }, Some(key), None);
    }

    fn tell_of_lock_id(&self, operation: Operation, lock_id: &LockId, refusal: Option<Refusal>) {
        let event = Event {
            reason: refusal.map(Refusal::as_str),
            lock_id_hash: Some(lock_id.lock_id_hash()),
            ..Event::new(operation, refusal.is_none())
        };
        self.tell(event, None, Some(lock_id));
    }
}

impl Event {
    fn new(operation: Operation, ok: bool) -> Self {
        Event { operation, ok, reason: None, key_hash: None, lock_id_hash: None, key: None, lock_id: None }
    }
}

#[async_trait]
impl LockBackend for Telemetry {
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome> {
        let outcome = self.backend.acquire(request).await?;
        let granted = outcome.acquired().map(|grant| grant.lock_id);
        let event = Event {
            reason: granted.is_none().then_some("locked"),
            key_hash: Some(request.key.key_hash()),
            ..Event::new(Operation::Acquire, granted.is_some())
        };
        self.tell(event, Some(&request.key), granted.as_ref());
        Ok(outcome)
    }

    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome> {
        let outcome = self.backend.extend(request).await?;
        let refusal = match outcome {
            ExtendOutcome::Extended { .. } => None,
            ExtendOutcome::Refused(refusal) => Some(refusal),
        };
        self.tell_of_lock_id(Operation::Extend, &request.lock_id, refusal);
        Ok(outcome)
    }

    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome> {
        let outcome = self.backend.release(lock_id).await?;
        let refusal = match outcome {
            ReleaseOutcome::Released => None,
            ReleaseOutcome::Refused(refusal) => Some(refusal),
        };
        self.tell_of_lock_id(Operation::Release, lock_id, refusal);
        Ok(outcome)
    }

    async fn is_locked(&self, key: &Key) -> Result<bool> {
        let locked = self.backend.is_locked(key).await?;
        self.tell_of_key(Operation::IsLocked, key, locked);
        Ok(locked)
    }

    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>> {
        let found = self.backend.lookup(by).await?;
        match by {
            LookupBy::Key(key) => self.tell_of_key(Operation::Lookup, key, found.is_some()),
            LookupBy::LockId(lock_id) => {
                let event = Event {
                    lock_id_hash: Some(lock_id.lock_id_hash()),
                    ..Event::new(Operation::Lookup, found.is_some())
                };
                self.tell(event, None, Some(lock_id));
            }
        }
        Ok(found)
    }

    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>> {
        self.backend.list(request).await
    }

    async fn watch(&self, key: &Key) -> Watch {
        self.backend.watch(key).await
    }

    fn capabilities(&self) -> Capabilities {
        self.backend.capabilities()
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Telemetry").field("backend", &self.backend).finish_non_exhaustive()
    }
}
