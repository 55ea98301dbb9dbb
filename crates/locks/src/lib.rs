//! Locks with fences.
//!
//! A [`LockBackend`] is the least a store must do to hold locks. [`Locks`] is what a service uses: it waits for a
//! key, gives out guards that release once and extend themselves, tells a holder of its loss in time, and looks
//! locks up without showing their keys. It is written once, for every backend.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use leasehold_locks::{AcquireOptions, Key, Locks, backend::memory::MemoryBackend};
//!
//! let locks = Locks::new(MemoryBackend::default());
//! let guard = locks.acquire(&Key::parse("billing")?, &AcquireOptions::default()).await?;
//! println!("fence {}", guard.fence()); // send it along with every write made under this lock
//! guard.release().await?;
//! # Ok(()) }
//! ```

pub mod backend;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod fence_guard;

mod acquire;
mod error;
mod guard;
mod keeper;
mod locks;
mod lookup;
mod options;
mod outcome;
mod per_key;
mod release_errors;
mod request;
mod retry;
mod telemetry;
mod ticket;
mod turns;
mod watch;

pub use backend::LockBackend;
pub use error::{Error, Result};
pub use guard::Guard;
pub use keeper::{KeepOptions, KeptGuard, Loss};
pub use leasehold_core::{Fence, Key, KeyHash, LockId, LockInfo, LockRecord, Refusal, Timestamp, Ttl};
pub use locks::{Config, Locks};
pub use options::AcquireOptions;
pub use outcome::{AcquireOutcome, ExtendOutcome, Grant, ReleaseOutcome};
pub use release_errors::{OnReleaseError, ReleaseContext};
pub use request::{AcquireRequest, ExtendRequest, ListRequest, LookupBy};
pub use retry::{Backoff, Jitter, Retry};
pub use telemetry::{Event, IncludeRaw, Operation, Telemetry};
pub use watch::{Watch, WatchHub};
