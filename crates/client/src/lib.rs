//! A client of the leasehold server.
//!
//! [`Client`] has a method per endpoint of queues and of who may use them. [`HttpBackend`] is a lock backend like any
//! other: [`Locks`](leasehold_locks::Locks) over it waits, extends and guards as it does over a database, and the same
//! conformance suite runs over both.

mod access;
mod call;
mod client;
mod connect;
mod connections;
mod endpoint;
mod error;
mod lock;
mod lock_news;
pub mod ndjson;
mod operations;
mod options;
mod pages;
mod queue;
mod queues;
mod storage;
mod trace_parent;

pub use client::Client;
pub use endpoint::Endpoint;
pub use error::{Error, Result};
pub use lock::HttpBackend;
pub use operations::Health;
pub use options::{ClientCertificate, Options};
pub use pages::{Items, List, Pages, Scheduled};
pub use trace_parent::TraceParent;
