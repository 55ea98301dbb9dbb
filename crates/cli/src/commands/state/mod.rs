mod execution;
mod queues;
mod shards;
mod target;
mod task_queues;

use clap::{Args, Subcommand};

use self::target::Target;
use crate::commands::block_on;
use crate::failure::Failure;
use crate::output::Done;

/// Look at state: shards, executions, task queues, queues. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct State {
    #[command(subcommand)]
    verb: Verb,

    #[command(flatten)]
    target: Target,
}

const HELP: &str = "\
Exit codes:
  0 found · 2 there is none by that name, or the tables are not there · 4 the database is unavailable

Examples:
  leasehold state shards --store postgres://temporal:secret@db/temporal
  leasehold state execution default order-42 --json | jq .db_record_version
  leasehold state task-queues --fair --limit 1000 --json";

#[derive(Debug, Subcommand)]
enum Verb {
    Shards(shards::Shards),
    Execution(execution::Execution),
    TaskQueues(task_queues::TaskQueues),
    Queues(queues::Queues),
}

impl State {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(async {
            match self.verb {
                Verb::Shards(verb) => verb.run(&self.target).await,
                Verb::Execution(verb) => verb.run(&self.target).await,
                Verb::TaskQueues(verb) => verb.run(&self.target).await,
                Verb::Queues(verb) => verb.run(&self.target).await,
            }
        })
    }
}
