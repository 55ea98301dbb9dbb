mod rules;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::output::Done;

/// Aurora DSQL on your machine.
#[derive(Debug, Args)]
pub(crate) struct DsqlSim {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Rules(rules::Rules),
}

impl DsqlSim {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        match self.verb {
            Verb::Rules(verb) => verb.run(),
        }
    }
}
