//! The test servers: `leasehold-testkit` knows how; this only calls it.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, read, show};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.first().map(String::as_str) {
        Some("up" | "down" | "status") => {
            show("services", command().args(arguments).env("LEASEHOLD_INSTALL", "1"))
        }
        _ => Err("services takes one of: up, down, status".to_owned()),
    }
}

/// Installs what is missing where that is allowed; otherwise says what to install. `program` is `leasehold-services`.
pub(crate) fn install(program: &Path, service: &str) -> Result<(), String> {
    let output = read(Command::new(program).args(["install", service]).env("LEASEHOLD_INSTALL", "1"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
    }
}

fn command() -> Command {
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "leasehold-testkit",
        "--bin",
        "leasehold-services",
        "--",
    ]);
    command
}
