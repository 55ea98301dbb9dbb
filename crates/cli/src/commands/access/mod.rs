//! Who may do what, in the store itself: without a server.

mod recover;

use clap::{Args, Subcommand};

use crate::commands::block_on;
use crate::failure::Failure;
use crate::output::Done;

/// Users, keys and roles in the store itself: without a server, and without asking for a key.
#[derive(Debug, Args)]
pub(crate) struct Access {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Recover(recover::Recover),
}

impl Access {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        match self.verb {
            Verb::Recover(verb) => block_on(verb.run()),
        }
    }
}
