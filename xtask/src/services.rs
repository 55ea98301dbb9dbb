//! The test servers: `leasehold-testkit` knows how; this only calls it.

use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, show};

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.first().map(String::as_str) {
        Some("up" | "down" | "status") => {
            show("services", command().args(arguments).env("LEASEHOLD_INSTALL", "1"))
        }
        _ => Err("services takes one of: up, down, status".to_owned()),
    }
}

pub(crate) fn command() -> Command {
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
