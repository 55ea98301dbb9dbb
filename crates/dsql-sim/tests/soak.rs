//! Random histories for as long as asked, and 10,000 increments of one row by 8 clients.
//!
//! `cargo xtask soak dsql-sim --minutes 10 --seed 1`

#![allow(dead_code, reason = "the fixture is that of the tests on PostgreSQL")]

#[path = "on_postgres/contention.rs"]
mod contention;
#[path = "on_postgres/fixture.rs"]
mod fixture;
#[path = "on_postgres/model/mod.rs"]
mod model;
