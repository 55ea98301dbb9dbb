mod lock;
mod schema;
mod serve;

use std::future::Future;

use clap::Subcommand;
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::output::Done;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Serve),
    Lock(lock::Lock),
    Schema(schema::Schema),
}

pub(crate) fn run(command: Command) -> Result<Done, Failure> {
    match command {
        Command::Serve(serve) => serve.run(),
        Command::Lock(lock) => lock.run(),
        Command::Schema(schema) => schema.run(),
    }
}

/// Runs to the end on a runtime of its own.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    Runtime::new().map_err(Failure::runtime)?.block_on(work)
}
