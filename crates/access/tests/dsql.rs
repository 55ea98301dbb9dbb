//! The contract over DSQL, simulated: at both levels, and while conflicts and schema changes strike; and what only this
//! store can get wrong.

#[path = "dsql_store/changes.rs"]
mod changes;
#[path = "dsql_store/faults.rs"]
mod faults;
#[path = "dsql_store/fixture.rs"]
mod fixture;
#[path = "shared_store/heard.rs"]
mod heard;
#[path = "dsql_store/limits.rs"]
mod limits;
#[path = "shared_store/people.rs"]
mod people;
#[path = "dsql_store/rules.rs"]
mod rules;
#[path = "dsql_store/schema.rs"]
mod schema;
#[path = "dsql_store/skew.rs"]
mod skew;
#[path = "dsql_store/writes.rs"]
mod writes;

/// What clusters were in 2025-05.
mod level_2025_05 {
    use crate::fixture::Oldest;

    leasehold_access::access_conformance!(Oldest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}

/// What clusters are since 2026-09.
mod level_2026_09 {
    use crate::fixture::Newest;

    leasehold_access::access_conformance!(Newest, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}

/// While one commit in six is refused, a third of those as if the schema had changed.
mod with_conflicts {
    use crate::fixture::Conflicting;

    leasehold_access::access_conformance!(Conflicting, [ignore = "needs PostgreSQL: cargo xtask test dsql"]);
}
