//! The contract over PostgreSQL, in every way the backend can talk to it, and what only this store can get wrong.

mod attack;
mod errors;
mod faults;
mod fixture;
mod fused;
mod interop;
mod news;
mod peer;
mod pooler;
mod scans;
mod schema;
mod sqlstates;
mod windows;

/// Beside SyncGuard, by the functions that `setup_schema` makes.
mod shared {
    use super::fixture::Shared;

    leasehold_locks::lock_conformance!(Shared, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}

/// Beside SyncGuard, where the schema has no functions.
mod shared_without_functions {
    use super::fixture::SharedWithoutFunctions;

    leasehold_locks::lock_conformance!(
        SharedWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"],
        [store]
    );
}

/// Among ourselves.
mod exclusive {
    use super::fixture::Exclusive;

    leasehold_locks::lock_conformance!(
        Exclusive,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"],
        [store]
    );
}

/// Among ourselves, where the schema has no functions.
mod exclusive_without_functions {
    use super::fixture::ExclusiveWithoutFunctions;

    leasehold_locks::lock_conformance!(
        ExclusiveWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"],
        [store]
    );
}

/// Many requests in one statement, where the schema has no functions.
mod fused_without_functions {
    use super::fixture::FusedWithoutFunctions;

    leasehold_locks::lock_conformance!(
        FusedWithoutFunctions,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"],
        [store]
    );
}

/// Among ourselves, many requests in one statement.
mod fused_exclusive {
    use super::fixture::FusedExclusive;

    leasehold_locks::lock_conformance!(
        FusedExclusive,
        [ignore = "needs PostgreSQL: cargo xtask test postgres"],
        [store]
    );
}

/// Beside SyncGuard, many requests in one statement.
mod fused_shared {
    use super::fixture::FusedShared;

    leasehold_locks::lock_conformance!(FusedShared, [ignore = "needs PostgreSQL: cargo xtask test postgres"], [store waiting]);
}
