//! The embedded store, in one program.

mod identity;
mod open;
mod power;
mod writer;
