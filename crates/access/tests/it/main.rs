//! The contract over every store, what only one of them can get wrong, and what the service promises whatever the store.

#[cfg(feature = "dsql")]
mod dsql;
#[cfg(feature = "embedded")]
mod embedded;
#[cfg(feature = "postgres")]
mod heard;
mod memory;
#[cfg(feature = "postgres")]
mod people;
#[cfg(feature = "postgres")]
mod postgres;
mod service;
