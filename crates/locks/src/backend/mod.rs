//! What a store must do to hold locks, and the stores that do it.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use leasehold_core::{Key, LockId, LockRecord};

use crate::{
    AcquireOutcome, AcquireRequest, ExtendOutcome, ExtendRequest, ListRequest, LookupBy, ReleaseOutcome,
    Result, Watch,
};

#[cfg(feature = "dsql")]
pub mod dsql;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "firestore")]
pub mod firestore;
mod location;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
mod rules;

pub use location::{BackendLocation, BackendOptions};

/// The least a store must do to hold locks. Waiting, retrying and guards are built on top, once.
///
/// Every operation is one atomic step of the store: what it decides and what it writes cannot be torn apart by
/// another client, an expiry or a crash. Nothing is retried here, save a commit
/// that a store refused because a document had changed, which had no effect. Dropping a future midway may leave the step
/// done or not done; the caller that needs to know looks the lock id up.
#[async_trait]
pub trait LockBackend: Debug + Send + Sync + 'static {
    /// Holds the key if no live hold exists, with a fence above all fences of the key before. Never waits for
    /// the holder. A request whose lock id already holds the key gets the same grant again; one whose lock id has a live
    /// hold of another key is [`Error::LockIdInUse`](crate::Error::LockIdInUse), and changes nothing.
    async fn acquire(&self, request: &AcquireRequest) -> Result<AcquireOutcome>;

    /// Ends the live hold `ttl` from now. An ended hold is never revived.
    ///
    /// Dropping the future before its answer means that the connection is too slow: the next call takes another one.
    async fn extend(&self, request: &ExtendRequest) -> Result<ExtendOutcome>;

    /// Ends the live hold with this id. Its fence counter stays.
    async fn release(&self, lock_id: &LockId) -> Result<ReleaseOutcome>;

    /// Whether a live hold of the key exists. May clean up a hold that is long expired, if so configured.
    async fn is_locked(&self, key: &Key) -> Result<bool>;

    /// The live hold, with its raw key and lock id. Diagnostic: true when it was read, never a right to write.
    async fn lookup(&self, by: LookupBy<'_>) -> Result<Option<LockRecord>>;

    /// A page of live holds in the byte order of their keys.
    async fn list(&self, request: &ListRequest) -> Result<Vec<LockRecord>>;

    /// Tells when the key may have become free. Taken *before* the acquire that finds the key held, so that no
    /// release falls in between. A backend without such news returns [`Watch::never`].
    async fn watch(&self, key: &Key) -> Watch;

    /// How this store differs from others, for callers that must know.
    fn capabilities(&self) -> Capabilities;
}

/// How stores differ. Code above asks these, never for a store by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The store's name, as in its URL.
    pub backend: &'static str,
    /// Whose clock judges expiry.
    pub time_authority: TimeAuthority,
    /// How long after its reported end a hold still keeps others out and may be extended and released.
    pub tolerance: Duration,
    /// Whether fences and holds survive a crash of the store.
    pub durable: bool,
}

/// Whose clock judges expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeAuthority {
    /// One clock for all clients: the store's.
    Server,
    /// Each client's own; their differences must stay below the tolerance.
    Client,
}

impl TimeAuthority {
    /// The name in SyncGuard's capabilities.
    pub const fn as_str(self) -> &'static str {
        match self {
            TimeAuthority::Server => "server",
            TimeAuthority::Client => "client",
        }
    }
}
