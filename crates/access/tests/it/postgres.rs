//! The contract over PostgreSQL, and what only servers that share a database can get wrong.

mod changes;
mod fixture;
mod schema;

/// To the server itself.
mod direct {
    use super::fixture::Postgres;

    leasehold_access::access_conformance!(Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}

/// Through PgBouncer in transaction mode: every statement may meet another session, and there are no news.
mod pooled {
    use super::fixture::Pooled;

    leasehold_access::access_conformance!(Pooled, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}
