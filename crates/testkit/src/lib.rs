//! What tests need and the product does not: servers that are thrown away, and a proxy that makes connections fail.
//!
//! - [`postgres`], [`redis`], [`firestore`], [`pgbouncer`]: the servers of `leasehold-throwaway`, under one name.
//! - `dsql` (feature `dsql`): a simulated DSQL cluster.
//! - [`proxy::FaultProxy`]: a TCP proxy that cuts, swallows, delays, or loses the reply, by rule.

#[cfg(feature = "dsql")]
pub mod dsql;
pub mod proxy;

pub use leasehold_throwaway::{
    Error, Found, Result, Service, TIME_LIMIT, firestore, folder, pgbouncer, postgres, redis,
};
