//! Persistence on PostgreSQL and on DSQL, simulated: the same cases, and properties of every write, on both.

#[macro_use]
mod cases;
mod dsql;
mod fixture;
mod postgres;
mod properties;
mod reads;
mod soak;
mod temporal;
mod writes;
