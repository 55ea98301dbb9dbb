//! The contract over DSQL, simulated: at both levels, and while conflicts and schema changes strike; and what only this
//! store can get wrong.

mod changes;
mod faults;
mod fixture;
mod limits;
mod rules;
mod schema;
mod skew;
mod writes;

/// What clusters were in 2025-05.
mod level_2025_05 {
    use super::fixture::Oldest;

    leasehold_access::access_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}

/// What clusters are since 2026-09.
mod level_2026_09 {
    use super::fixture::Newest;

    leasehold_access::access_conformance!(Newest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}

/// While one commit in six is refused, a third of those as if the schema had changed.
mod with_conflicts {
    use super::fixture::Conflicting;

    leasehold_access::access_conformance!(Conflicting, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}
