//! The contract over PostgreSQL, and what only this store can get wrong.

mod faults;
mod fencing;
pub(crate) mod fixture;
mod opens;
mod pooler;
mod querator;
mod schema;
mod size;

leasehold_queue::store_conformance!(
    fixture::Postgres,
    [ignore = "needs PostgreSQL: cargo xtask test postgres"]
);
leasehold_queue::queue_conformance!(
    fixture::Postgres,
    [ignore = "needs PostgreSQL: cargo xtask test postgres"]
);
