//! The contract over every store, what only one of them can get wrong, and what is built on top of them.

#[cfg(feature = "dsql")]
mod dsql;
#[cfg(feature = "embedded")]
mod embedded;
#[cfg(feature = "firestore")]
mod firestore;
mod guards;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_cluster;
#[cfg(feature = "embedded")]
mod soak;
mod telemetry;
