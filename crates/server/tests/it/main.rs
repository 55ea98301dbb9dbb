//! The server over real sockets, in one program: each further program would link the whole server once more.

mod access;
mod access_log;
mod administration;
mod browsers;
mod connections;
mod dsql;
mod embedded;
mod encodings;
mod locks;
mod memory;
mod openapi;
mod operators;
#[cfg(feature = "otlp")]
mod otlp;
mod permissions;
mod placement;
mod postgres;
mod test_hooks;
mod tls;
mod wire;
