//! The embedded store, in one program.

mod open;
mod writer;
