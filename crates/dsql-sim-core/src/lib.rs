//! Aurora DSQL on a laptop: the rules by which statements are refused, and the engine that decides conflicts at
//! COMMIT, over a stock PostgreSQL.
//!
//! An [`Engine`] is a simulated cluster; a [`Session`] is one connection to it. Every call on a session runs to its
//! end and waits for nobody, so a test that calls sessions in turn has decided the schedule.

mod backend;
mod catalogue;
mod config;
mod engine;
mod failure;
pub mod faults;
mod intents;
mod plan;
pub mod rules;
mod session;

pub use backend::{BackingUrl, BackingUrlError, Call, Outcome};
pub use config::{Config, Limits, Mode};
pub use engine::{Count, Counters, Engine};
pub use failure::{Answered, Failure, Stop};
pub use session::{Bound, Canceller, Prepared, Session, Status};
