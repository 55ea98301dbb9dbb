//! A client of the leasehold server.
//!
//! [`HttpBackend`] is a lock backend like any other: [`Locks`](leasehold_locks::Locks) over it waits, extends and
//! guards as it does over a database, and the same conformance suite runs over both.

mod call;
mod endpoint;
mod error;
mod lock;

pub use endpoint::Endpoint;
pub use error::{Error, Result};
pub use lock::HttpBackend;
