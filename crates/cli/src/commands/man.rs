use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use crate::Cli;
use crate::failure::Failure;
use crate::output::{Done, written};

/// Print the manual page, or write the pages of all commands into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  leasehold man --output ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// A folder for a page a command
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        if let Some(folder) = self.output {
            let failed = |error| Failure::file(&folder.display().to_string(), error);
            std::fs::create_dir_all(&folder).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), &folder).map_err(failed)?;
            return Ok(Done::Yes);
        }
        let mut page = Vec::new();
        Page::new(Cli::command()).render(&mut page).map_err(Failure::runtime)?;
        written(io::stdout().write_all(&page))?;
        Ok(Done::Yes)
    }
}
