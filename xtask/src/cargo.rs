//! Running cargo, and other programs, with their output shown.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::Outcome;
use crate::source;

/// The same cargo that runs this command, at the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(source::root());
    // Cargo describes this package to this process. A build script that watches the description, such as ring's, would run
    // again in every build that a person starts by hand, and all that depends on it would be compiled again.
    for (name, _) in std::env::vars_os().filter(|(name, _)| describes_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command
}

fn describes_package(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
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

/// Runs to the end, showing everything, and returns what it printed to stdout.
pub(crate) fn tee(step: &str, command: &mut Command) -> Result<String, String> {
    println!("\n== {step}");
    let cannot = |error: std::io::Error| format!("{step}: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let mut printed = String::new();
    for line in BufReader::new(child.stdout.take().expect("stdout is piped")).lines() {
        let line = line.map_err(cannot)?;
        println!("{line}");
        printed += &line;
        printed.push('\n');
    }
    match child.wait().map_err(cannot)? {
        status if status.success() => Ok(printed),
        status => Err(format!("{step}: {status}")),
    }
}

/// Runs to the end and returns what it printed to stdout; stderr is shown.
pub(crate) fn read(command: &mut Command) -> Result<Output, String> {
    command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run {:?}: {error}", command.get_program()))
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => source::root().join(Path::new(&folder)),
        None => source::root().join("target"),
    }
}
