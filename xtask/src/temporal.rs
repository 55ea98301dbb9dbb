//! Temporal's SQL tool, of which the tests of databases that it made need a copy.

use std::path::PathBuf;
use std::process::Command;

use crate::{cache, installed, source};

/// Where the tests look for the tool.
pub(crate) const TOOL: &str = "LEASEHOLD_TEMPORAL_SQL_TOOL";

/// Builds the tool into the user's cache; go keeps what it compiled, so that only the first time takes minutes.
///
/// # Errors
/// Why this machine cannot have it.
pub(crate) fn tool() -> Result<PathBuf, String> {
    if let Some(program) = installed::missing(&["go"]) {
        return Err(format!("{program} is not installed"));
    }
    go(&["list", "-deps", "-f", "{{.Dir}}", "."])
        .map_err(|reason| format!("Temporal's module cannot be fetched: {reason}"))?;
    let path = cache::folder().join("temporal-sql-tool");
    go(&["build", "-o", &path.to_string_lossy(), "."])
        .map_err(|reason| format!("Temporal's tool does not build: {reason}"))?;
    Ok(path)
}

fn go(words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("go");
    command.args(words).current_dir(source::root().join("crates/persistence/tests/temporal_tool"));
    command.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=readonly").env("GOWORK", "off");
    let ran = command.output().map_err(|error| format!("cannot run go: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&ran.stderr);
    Err(told.lines().last().unwrap_or("go said nothing").to_owned())
}
