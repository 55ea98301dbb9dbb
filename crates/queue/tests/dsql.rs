//! The contract over DSQL, simulated: at both levels, and while conflicts and schema changes strike; and what only this
//! store can get wrong.

#[path = "dsql_store/fixture.rs"]
mod fixture;

/// What clusters were in 2025-05.
mod level_2025_05 {
    use crate::fixture::Oldest;

    leasehold_queue::store_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
    leasehold_queue::queue_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}
