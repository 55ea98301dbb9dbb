//! The simulator from outside: over the wire, on a throw-away PostgreSQL.

mod contention;
mod faults;
mod fixture;
mod foreign_clients;
mod jobs;
mod limits;
mod locking;
mod matrix;
mod model;
mod native;
mod protocol;
mod schema;
mod soak;
mod vectors;
