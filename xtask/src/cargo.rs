//! Running cargo, and other programs, with their output shown.

use std::process::{Command, Output, Stdio};

use crate::Outcome;
use crate::source;

/// The same cargo that runs this command, at the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(source::root());
    command
}

/// Runs to the end, showing everything.
pub(crate) fn show(step: &str, command: &mut Command) -> Outcome {
    println!("\n== {step}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{step}: {status}")),
        Err(error) => Err(format!("{step}: cannot run {:?}: {error}", command.get_program())),
    }
}

/// Runs to the end and returns what it printed to stdout; stderr is shown.
pub(crate) fn read(command: &mut Command) -> Result<Output, String> {
    command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run {:?}: {error}", command.get_program()))
}
