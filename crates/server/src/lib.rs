//! The server: HTTP in front of the faces, one store behind them.
//!
//! A request is decoded in `routes`, makes one call down, and is encoded again. [`Server::bind`] does all that
//! can fail at start; [`Server::run`] serves until it is told to stop.

mod config;
mod error;
mod location;
mod recorder;
mod reply;
mod routes;
mod server;
mod store;

pub use config::{Config, DEFAULT_ADDRESS, DEFAULT_STORE};
pub use error::{Error, Result};
pub use location::StoreLocation;
pub use server::Server;
