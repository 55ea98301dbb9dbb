//! The contract over PostgreSQL, and what only servers that share a database can get wrong.

#[path = "postgres_store/changes.rs"]
mod changes;
#[path = "postgres_store/fixture.rs"]
mod fixture;
#[path = "shared_store/heard.rs"]
mod heard;
#[path = "shared_store/people.rs"]
mod people;
#[path = "postgres_store/schema.rs"]
mod schema;

/// To the server itself.
mod direct {
    use crate::fixture::Postgres;

    leasehold_access::access_conformance!(Postgres, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}

/// Through PgBouncer in transaction mode: every statement may meet another session, and there are no news.
mod pooled {
    use crate::fixture::Pooled;

    leasehold_access::access_conformance!(Pooled, [ignore = "needs PostgreSQL: cargo xtask test postgres"]);
}
