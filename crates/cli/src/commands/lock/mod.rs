mod acquire;
mod child;
mod extend;
mod list;
mod lookup;
mod members;
mod order;
mod release;
mod run;
mod status;
mod supervise;
mod supervisor;
mod target;

use clap::{Args, Subcommand};

use crate::commands::block_on;
use crate::failure::Failure;
use crate::output::Done;

/// Acquire, extend, release and inspect locks.
#[derive(Debug, Args)]
pub(crate) struct Lock {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Acquire(acquire::Acquire),
    Extend(extend::Extend),
    Release(release::Release),
    Status(status::Status),
    Lookup(lookup::Lookup),
    List(list::List),
    Run(run::Run),
    Supervise(supervise::Supervise),
}

impl Lock {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(async {
            match self.verb {
                Verb::Acquire(verb) => verb.run().await,
                Verb::Extend(verb) => verb.run().await,
                Verb::Release(verb) => verb.run().await,
                Verb::Status(verb) => verb.run().await,
                Verb::Lookup(verb) => verb.run().await,
                Verb::List(verb) => verb.run().await,
                Verb::Run(verb) => verb.run().await,
                Verb::Supervise(verb) => verb.run().await,
            }
        })
    }
}
