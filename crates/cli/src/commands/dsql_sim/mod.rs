mod rules;
mod serve;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::output::Done;

/// Aurora DSQL on your machine: conflicts at COMMIT, refusals and limits, for any PostgreSQL client.
///
/// Prints a connection string and serves until Ctrl-C. Without --backing it starts a PostgreSQL of its own from the
/// programs installed here, and throws it away afterwards.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = serve::EXAMPLES)]
pub(crate) struct DsqlSim {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    serve: serve::Serve,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Rules(rules::Rules),
}

impl DsqlSim {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        match self.verb {
            Some(Verb::Rules(verb)) => verb.run(),
            None => self.serve.run(),
        }
    }
}
