//! The contract over DSQL, simulated: at both levels, and while conflicts and schema changes strike; and what only this
//! store can get wrong.

mod faults;
mod fixture;
mod guarded;
mod schema;

/// What clusters are since 2026-09.
mod level_2026_09 {
    use super::fixture::Newest;

    leasehold_locks::lock_conformance!(Newest, [ignore = "needs PostgreSQL: cargo xtask test dsql"], [store waiting]);
}

/// What clusters were in 2025-05.
mod level_2025_05 {
    use super::fixture::Oldest;

    leasehold_locks::lock_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"], [store]);
}

/// While one commit in five is refused, half of those as if the schema had changed.
mod with_conflicts {
    use super::fixture::Conflicting;

    leasehold_locks::lock_conformance!(
        Conflicting,
        [ignore = "needs PostgreSQL: cargo xtask test dsql"],
        [store]
    );
}
