//! The contract over PostgreSQL, and what only this store can get wrong.

#[path = "postgres_store/faults.rs"]
mod faults;
#[path = "postgres_store/fencing.rs"]
mod fencing;
#[path = "postgres_store/fixture.rs"]
mod fixture;
#[path = "postgres_store/pooler.rs"]
mod pooler;
#[path = "postgres_store/querator.rs"]
mod querator;
#[path = "postgres_store/schema.rs"]
mod schema;
#[path = "postgres_store/size.rs"]
mod size;

leasehold_queue::store_conformance!(
    fixture::Postgres,
    [ignore = "needs PostgreSQL: cargo xtask test postgres"]
);
leasehold_queue::queue_conformance!(
    fixture::Postgres,
    [ignore = "needs PostgreSQL: cargo xtask test postgres"]
);
