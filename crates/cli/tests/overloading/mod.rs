//! Loads that no server should take, and what they do to it.

pub(crate) mod connection;
pub(crate) mod crowd;
pub(crate) mod long_answers;
pub(crate) mod long_bodies;
mod watched;

use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) use self::watched::Watched;
use crate::served::Server;

/// How many answers there were of each code.
pub(crate) type Answers = BTreeMap<u16, usize>;

/// Longer than any answer takes, also on a machine that does a hundred other things.
pub(crate) const PATIENT: Duration = Duration::from_secs(300);

/// A server with these limits, and an address for operators: they see it also while nobody else gets through.
pub(crate) fn server(store: &str, limits: &str) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("limits.yaml");
    std::fs::write(&file, format!("limits:\n  {limits}\n")).expect("writes");
    let file = file.to_str().expect("text");
    Server::start_on(store, &["--config", file, "--admin-address", "127.0.0.1:0"])
}
