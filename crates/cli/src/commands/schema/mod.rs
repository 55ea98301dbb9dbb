mod apply;
mod check;
mod database;
mod fence_guard;
mod print;

use clap::{Args, Subcommand, ValueEnum};

use crate::commands::block_on;
use crate::failure::Failure;
use crate::output::Done;

/// Print, apply and check the tables that Leasehold keeps in your database.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Print(print::Print),
    Apply(apply::Apply),
    Check(check::Check),
    FenceGuard(fence_guard::FenceGuard),
}

/// What the tables are for. Those of queues are made by the server, one for each partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Face {
    /// Locks, on SyncGuard's tables
    Locks,
    /// State: Temporal's tables
    State,
}

impl Schema {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        match self.verb {
            Verb::Print(verb) => verb.run(),
            Verb::Apply(verb) => block_on(verb.run()),
            Verb::Check(verb) => block_on(verb.run()),
            Verb::FenceGuard(verb) => verb.run(),
        }
    }
}
