//! The one developer command: `cargo xtask check | test | soak | bench | dist | services`. Needs nothing but cargo;
//! what else a step needs, the step installs or names.

mod bench;
mod cache;
mod cargo;
mod check;
mod deny;
mod dist;
mod documented_codes;
mod elf;
mod included_files;
mod installed;
mod links;
mod pauses;
mod python;
mod services;
mod soak;
mod source;
mod temporal;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command>

  check                     formatting, lints on every feature set, licences and sources of dependencies,
                            documentation, every error code documented, every SQL file used
  test [CRATE|GROUP]... [--changed [REV]] [--slowest N] [-- NAME]
                            all tests, or those of the named crates and groups, or those whose name contains NAME;
                            installs and starts the servers they need; lists what could not run
                            --changed: the crates that differ from REV [default: HEAD] and all that depend on them
                            --slowest: how many of the slowest tests to list [default: 5]
  soak [CRATE]... [--minutes N] [--seed N] [-- NAME]
                            the long random and fault runs, N minutes a test; writes a report with the seed
  bench [NAME|GROUP]... [-- ARGS]
                            all benchmarks, or the named ones; a group (queue, lock, server, peers) is also
                            written to docs/benchmarks.md; peers -- --install fetches what it is measured beside
  dist [--debug]            the binary that needs no library: built, checked to be static, its size and sha256
  services up|down|status   the test servers, for use by hand

Groups of tests: postgres, dsql, redis, firestore; clients: the examples in other languages and other drivers at the
DSQL simulator; ops: the files under ops/ by the programs that read them; temporal: databases made by Temporal's tool";

/// What a command could not do. Its output has already been shown; this says which step it was.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let outcome = match command {
        "check" => check::run(rest),
        "test" => test::run(rest),
        "soak" => soak::run(rest),
        "bench" => bench::run(rest),
        "dist" => dist::run(rest),
        "services" => services::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        unknown => Err(format!("no command '{unknown}'\n\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
