use std::io;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Cli;
use crate::failure::Failure;
use crate::output::{Done, written};

/// Print a script that completes commands and flags in a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  leasehold completions bash > ~/.local/share/bash-completion/completions/leasehold"
)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "leasehold", &mut script);
        written(io::Write::write_all(&mut io::stdout(), &script))?;
        Ok(Done::Yes)
    }
}
