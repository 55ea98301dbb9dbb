//! Real servers, thrown away afterwards: hermetic, fast, and gone. For tests, and for commands that need a database of
//! their own.
//!
//! - [`postgres::Cluster`]: a PostgreSQL server of its own, from a cached data folder, with a fresh database or
//!   schema per test.
//! - [`redis::Server`] and [`redis::Cluster`]: the same for Redis.
//! - [`firestore::Emulator`]: Google's Firestore emulator, with a project per test.
//! - [`pgbouncer::PgBouncer`]: a transaction pooler in front of a cluster.
//!
//! # Nothing is left running
//! Each server is the child of a guardian process that reads commands from a pipe held by the owning process. The
//! kernel closes that pipe however that process ends (return, panic, Ctrl-C, `kill -9`), and then the guardian
//! kills the server and removes its folder. Folders left by a machine that was switched off are swept by the next
//! run.
//!
//! # Blocking or async
//! Starting, stopping and killing servers blocks the calling thread, for at most [`TIME_LIMIT`] per step. That is
//! harmless in a `#[tokio::test]`, unless another task of the same single-threaded runtime has to make progress
//! meanwhile: use `tokio::task::spawn_blocking` or the multi-threaded
//! flavor there. Everything that talks to a running server is async.
//!
//! # Environment
//! | variable | meaning |
//! | --- | --- |
//! | `LEASEHOLD_POSTGRES_BIN`, `LEASEHOLD_REDIS_BIN`, `LEASEHOLD_PGBOUNCER_BIN` | folder of the server programs; nothing else is looked at |
//! | `FIRESTORE_EMULATOR_HOST` | `host:port` of a running Firestore emulator to use instead of starting one |
//! | `LEASEHOLD_FIRESTORE_EMULATOR_JAR` | the emulator's jar; nothing else is looked at |
//! | `LEASEHOLD_INSTALL=1` | a missing Debian package may be installed (root or passwordless sudo) |
//!
//! Linux only: the guardian reads `/proc`.

mod account;
mod error;
pub mod firestore;
mod folder;
mod guardian;
mod install;
mod memory;
pub mod pgbouncer;
mod port;
pub mod postgres;
mod program;
pub mod redis;
mod server;
mod service;

use std::{path::PathBuf, time::Duration};

pub use error::{Error, Result};
pub use service::{Found, Service};

/// Limits each step (a start, a stop, a kill) that waits for a server. A server that fails says so much earlier; on a machine with
/// thirty busy processes a Java server that is well took longer than 15 s to start.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The folder that all processes of this user share: data templates, servers, the state of detached services.
///
/// # Errors
/// When it cannot be made, or belongs to somebody else.
pub fn folder() -> Result<PathBuf> {
    folder::root(&account::Account::for_servers()?)
}
