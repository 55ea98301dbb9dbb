//! The client against servers in this process, in one program.

mod http;
mod queue;
mod tls;
