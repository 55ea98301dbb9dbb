//! The embedded store: a folder on the local disk that one process owns.
//!
//! Locks, queues and state keep their tables in one database file, so that a single commit, and a single
//! wait for the disk, can cover all of them. This crate opens that file safely, writes it from one thread, and
//! opens it again after the disk has failed; what is inside a table belongs to the crate that declares it.

mod error;
#[cfg(feature = "faults")]
pub mod faults;
mod file;
mod folder;
mod format;
mod identity;
mod inspect;
mod job;
mod store;
mod writer;

pub use error::{Error, Result};
pub use format::FORMAT;
pub use inspect::{Found, Inspection, inspect};
pub use job::Written;
pub use store::Store;
