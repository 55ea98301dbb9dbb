//! The contract over PostgreSQL, in every way the backend can talk to it, and what only this store can get wrong.

#[path = "postgres_store/attack.rs"]
mod attack;
#[path = "postgres_store/errors.rs"]
mod errors;
#[path = "postgres_store/faults.rs"]
mod faults;
#[path = "postgres_store/fixture.rs"]
mod fixture;
#[path = "postgres_store/fused.rs"]
mod fused;
#[path = "postgres_store/interop.rs"]
mod interop;
#[path = "postgres_store/news.rs"]
mod news;
#[path = "postgres_store/peer.rs"]
mod peer;
#[path = "postgres_store/pooler.rs"]
mod pooler;
#[path = "postgres_store/scans.rs"]
mod scans;
#[path = "postgres_store/schema.rs"]
mod schema;
#[path = "postgres_store/sqlstates.rs"]
mod sqlstates;
#[path = "postgres_store/windows.rs"]
mod windows;

/// Beside SyncGuard, by the functions that `setup_schema` makes.
mod shared {
    use crate::fixture::Shared;

    leasehold_locks::lock_conformance!(Shared, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}

/// Beside SyncGuard, where the schema has no functions.
mod shared_without_functions {
    use crate::fixture::SharedWithoutFunctions;

    leasehold_locks::lock_conformance!(
        SharedWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"]
    );
}

/// Among ourselves.
mod exclusive {
    use crate::fixture::Exclusive;

    leasehold_locks::lock_conformance!(Exclusive, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}

/// Among ourselves, where the schema has no functions.
mod exclusive_without_functions {
    use crate::fixture::ExclusiveWithoutFunctions;

    leasehold_locks::lock_conformance!(
        ExclusiveWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"]
    );
}

/// Many requests in one statement, where the schema has no functions.
mod fused_without_functions {
    use crate::fixture::FusedWithoutFunctions;

    leasehold_locks::lock_conformance!(
        FusedWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"]
    );
}

/// Among ourselves, many requests in one statement.
mod fused_exclusive {
    use crate::fixture::FusedExclusive;

    leasehold_locks::lock_conformance!(
        FusedExclusive,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"]
    );
}

/// Beside SyncGuard, many requests in one statement.
mod fused_shared {
    use crate::fixture::FusedShared;

    leasehold_locks::lock_conformance!(FusedShared, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}
