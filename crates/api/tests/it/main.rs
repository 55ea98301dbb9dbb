//! The messages as JSON and as protobuf, in one program.

mod golden;
mod lock;
mod queue;
mod schema;
