//! The simulator from outside, over the wire, on a throw-away PostgreSQL.

#[path = "on_postgres/fixture.rs"]
mod fixture;
#[path = "on_postgres/vectors.rs"]
mod vectors;
#[path = "on_postgres/matrix.rs"]
mod matrix;
#[path = "on_postgres/model/mod.rs"]
mod model;
