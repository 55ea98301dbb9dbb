//! The simulator from outside, over the wire, on a throw-away PostgreSQL.

#[path = "on_postgres/contention.rs"]
mod contention;
#[path = "on_postgres/faults.rs"]
mod faults;
#[path = "on_postgres/fixture.rs"]
mod fixture;
#[path = "on_postgres/limits.rs"]
mod limits;
#[path = "on_postgres/locking.rs"]
mod locking;
#[path = "on_postgres/matrix.rs"]
mod matrix;
#[path = "on_postgres/model/mod.rs"]
mod model;
#[path = "on_postgres/native.rs"]
mod native;
#[path = "on_postgres/protocol.rs"]
mod protocol;
#[path = "on_postgres/schema.rs"]
mod schema;
#[path = "on_postgres/vectors.rs"]
mod vectors;
