mod serve;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(serve::Serve),
}

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(serve) => serve.run(),
    }
}
