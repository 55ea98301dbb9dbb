//! What the `leasehold` binary does. Commands are nouns and verbs, one file each under `commands/`; Querator's own
//! commands are under `commands/querator/`.
//!
//! A library only so that it compiles while the server does: a binary waits for all it is linked with.

mod client_id;
mod commands;
mod connection;
mod failure;
mod instant;
mod interrupt;
mod log;
mod output;
mod paging;
mod profile;
mod progress;
mod prometheus;
mod table;
mod target;
mod wrong_arguments;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::commands::Ended;
use crate::commands::querator::refused_arguments;

/// The fence for the database you already run: locks, ordered queues and owned state that a paused, partitioned
/// or twice-started worker cannot corrupt.
#[derive(Debug, Parser)]
#[command(name = "leasehold", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    /// Taken before the command as well, as Querator does
    #[arg(long, value_name = "URL", hide = true, global = true)]
    endpoint: Option<String>,

    #[command(subcommand)]
    command: commands::Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0 done · 1 internal error · 2 the request is wrong · 3 the answer is no · 4 store, server or address unavailable ·
  5 outcome unknown · 6 a lock was lost · 7 doctor has warnings · 8 doctor found problems ·
  127 the command under a lock cannot be run · 128 + n signal n ended it
  Querator's commands (produce, lease, complete, create, list, update, delete, version, server): 0 done · 1 failed";

/// Runs the command of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => match refused_arguments(&error, &arguments) {
            Some(refusal) => return refusal.report(&mut Cli::command()),
            None => return wrong_arguments::report(&error),
        },
    };
    let ended = commands::run(cli.command);
    log::flush();
    match ended {
        Ended::Done(done) => done.exit_code(),
        Ended::Failed(failure) => failure.report(),
        Ended::Refused(refusal) => refusal.report(&mut Cli::command()),
    }
}
