//! Throw-away Redis servers, alone or as a cluster.
//!
//! ```no_run
//! use leasehold_throwaway::redis::Server;
//!
//! let server = Server::shared();
//! println!("connect to {}, keys begin with {}", server.url(), server.prefix());
//! ```

mod cluster;
mod server;
mod settings;
mod wire;

pub use cluster::Cluster;
pub use server::Server;
pub use settings::Settings;
