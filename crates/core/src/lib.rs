//! The shared words of Leasehold: what a key, a lock id, a fence, a ttl and an error are.
//!
//! Nothing here does I/O or needs a runtime. Parsing is the only way to get one of these types, so whoever
//! holds one need not check it again.

mod class;
mod clock;
mod deadline;
pub mod duration;
mod error;
mod fence;
pub mod firestore;
mod key;
mod key_hash;
mod liveness;
mod lock_code;
mod lock_id;
mod lock_info;
mod nfc;
pub mod postgres;
pub mod redis;
mod refusal;
mod storage_key;
mod timestamp;
mod ttl;

pub use class::Class;
pub use clock::{Clock, ManualClock, SystemClock};
pub use deadline::Deadline;
pub use error::{Error, Result};
pub use fence::Fence;
pub use key::Key;
pub use key_hash::KeyHash;
pub use liveness::{TIME_TOLERANCE, is_live};
pub use lock_code::{LockCode, Transport};
pub use lock_id::LockId;
pub use lock_info::{LockInfo, LockRecord};
pub use refusal::{Conditions, Refusal};
pub use storage_key::{StorageKey, StorageKeySpace};
pub use timestamp::Timestamp;
pub use ttl::Ttl;
