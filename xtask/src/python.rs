//! A Python with the driver that the tests of the simulator use, in an environment of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cache, installed, source};

/// Where the tests look for the interpreter.
pub(crate) const INTERPRETER: &str = "LEASEHOLD_PYTHON";
const REQUIREMENTS: &str = "crates/dsql-sim/tests/foreign_drivers/requirements.txt";

/// Installs the driver into the user's cache, unless it is there in the version that is asked for.
///
/// # Errors
/// Why this machine cannot have it.
pub(crate) fn interpreter() -> Result<PathBuf, String> {
    if let Some(program) = installed::missing(&["python3"]) {
        return Err(format!("{program} is not installed"));
    }
    let environment = cache::folder().join("python");
    let python = environment.join("bin/python");
    let cannot = |error: std::io::Error| format!("no Python environment can be made: {error}");
    fs::create_dir_all(cache::folder()).map_err(cannot)?;
    // Two runs at once would tear down each other's.
    let lock = File::create(cache::folder().join("python.lock")).map_err(cannot)?;
    lock.lock().map_err(cannot)?;
    let requirements = source::root().join(REQUIREMENTS);
    if !has(&python, &wanted(&source::text(&requirements))) {
        let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
        made.map_err(|reason| format!("python3 makes no environment: {reason}"))?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        run(pip.arg(&requirements))
            .map_err(|reason| format!("pip cannot install the Python driver: {reason}"))?;
    }
    Ok(python)
}

/// The lines that name a package and its version.
fn wanted(requirements: &str) -> Vec<&str> {
    requirements.lines().map(str::trim).filter(|line| line.contains("==")).collect()
}

fn has(python: &Path, wanted: &[&str]) -> bool {
    let frozen = Command::new(python).args(["-m", "pip", "freeze"]).output();
    frozen.is_ok_and(|frozen| {
        let installed = String::from_utf8_lossy(&frozen.stdout);
        wanted.iter().all(|wanted| installed.lines().any(|line| line.trim() == *wanted))
    })
}

fn run(command: &mut Command) -> Result<(), String> {
    let ran = command.output().map_err(|error| error.to_string())?;
    if ran.status.success() {
        return Ok(());
    }
    // Python says it on one stream or the other, the reason last.
    let told = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    let last = told.iter().filter_map(|told| told.lines().last()).next_back();
    Err(last.unwrap_or("it said nothing").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_name_versions() {
        let text = source::text(&source::root().join(REQUIREMENTS));
        let wanted = wanted(&text);
        assert_eq!(wanted.len(), 1, "{text}");
        assert!(wanted[0].starts_with("pg8000=="), "{text}");
    }

    #[test]
    fn interpreter_that_is_not_there_has_nothing() {
        assert!(!has(Path::new("/no/such/python"), &["pg8000==1"]));
    }

    #[test]
    fn failure_is_told_by_its_last_line() {
        let told = run(Command::new("sh").args(["-c", "echo first; echo reason >&2; exit 1"]));
        assert_eq!(told, Err("reason".to_owned()));
        assert_eq!(run(Command::new("sh").args(["-c", "exit 1"])), Err("it said nothing".to_owned()));
    }
}
