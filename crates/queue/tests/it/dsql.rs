//! The contract over DSQL, simulated: at both levels, and while conflicts and schema changes strike; and what only this
//! store can get wrong.

mod faults;
mod fixture;
mod limits;
mod rules;
mod schema;
mod takeover;
mod writes;

/// What clusters were in 2025-05.
mod level_2025_05 {
    use super::fixture::Oldest;

    leasehold_queue::store_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
    leasehold_queue::queue_conformance!(
        Oldest,
        [ignore = "needs PostgreSQL: cargo xtask test dsql"],
        [store]
    );
}

/// What clusters are since 2026-09: the same statements, so what the engine makes of them is not asked again.
mod level_2026_09 {
    use super::fixture::Newest;

    leasehold_queue::store_conformance!(Newest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}

/// While one commit in six is refused, a third of those as if the schema had changed.
mod with_conflicts {
    use super::fixture::Conflicting;

    leasehold_queue::store_conformance!(Conflicting, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}
