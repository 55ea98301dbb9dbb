mod clear;
mod complete;
mod create;
mod delete;
mod drain;
mod export;
mod extend;
mod import;
mod info;
mod lease;
mod leasing;
mod list;
mod partitions;
mod produce;
mod redrive;
mod reload;
mod retry;
pub(crate) mod settings;
mod stats;
mod tail;
mod transfer;
mod update;

use clap::{Args, Subcommand};

use crate::commands::block_on;
use crate::failure::Failure;
use crate::output::Done;
use crate::target::Target;

/// Create queues, put items in, work on them, look after them.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0 done · 1 internal error · 2 the request is wrong · 3 nothing to lease · 4 server unavailable, try again ·
  5 outcome unknown")]
pub(crate) struct Queue {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Create(create::Create),
    List(list::List),
    Info(info::Info),
    Update(update::Update),
    Delete(delete::Delete),
    Stats(stats::Stats),
    Clear(clear::Clear),
    Reload(reload::Reload),
    Produce(produce::Produce),
    Lease(lease::Lease),
    Complete(complete::Complete),
    Retry(retry::Retry),
    Extend(extend::Extend),
    Tail(tail::Tail),
    Export(export::Export),
    Import(import::Import),
    Drain(drain::Drain),
    Move(transfer::Move),
    Redrive(redrive::Redrive),
}

impl Queue {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            match self.verb {
                Verb::Create(verb) => verb.run(&target).await,
                Verb::List(verb) => verb.run(&target).await,
                Verb::Info(verb) => verb.run(&target).await,
                Verb::Update(verb) => verb.run(&target).await,
                Verb::Delete(verb) => verb.run(&target).await,
                Verb::Stats(verb) => verb.run(&target).await,
                Verb::Clear(verb) => verb.run(&target).await,
                Verb::Reload(verb) => verb.run(&target).await,
                Verb::Produce(verb) => verb.run(&target).await,
                Verb::Lease(verb) => verb.run(&target).await,
                Verb::Complete(verb) => verb.run(&target).await,
                Verb::Retry(verb) => verb.run(&target).await,
                Verb::Extend(verb) => verb.run(&target).await,
                Verb::Tail(verb) => verb.run(&target).await,
                Verb::Export(verb) => verb.run(&target).await,
                Verb::Import(verb) => verb.run(&target).await,
                Verb::Drain(verb) => verb.run(&target).await,
                Verb::Move(verb) => verb.run(&target).await,
                Verb::Redrive(verb) => verb.run(&target).await,
            }
        })
    }
}
