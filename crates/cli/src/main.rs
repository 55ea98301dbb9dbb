//! The `leasehold` binary. Commands are nouns and verbs, one file each under `commands/`.

mod commands;
mod failure;
mod log;

use std::process::ExitCode;

use clap::Parser;

/// The fence for the database you already run: locks, ordered queues and owned state that a paused, partitioned
/// or twice-started worker cannot corrupt.
#[derive(Debug, Parser)]
#[command(name = "leasehold", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0 done · 1 internal error · 2 the request is wrong · 4 store or address unavailable · 5 outcome unknown";

fn main() -> ExitCode {
    match commands::run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
