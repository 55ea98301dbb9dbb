//! The contract over every store, and what only one of them can get wrong.

#[cfg(feature = "embedded")]
mod crash;
#[cfg(feature = "dsql")]
mod dsql;
#[cfg(feature = "embedded")]
mod embedded;
mod engine;
#[cfg(feature = "postgres")]
mod line;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(all(feature = "embedded", feature = "postgres"))]
mod soak;
