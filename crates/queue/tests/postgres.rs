//! The contract over PostgreSQL, and what only this store can get wrong.

#[path = "postgres_store/fixture.rs"]
mod fixture;

leasehold_queue::store_conformance!(
    fixture::Postgres,
    [ignore = "needs PostgreSQL: cargo xtask test postgres"]
);
