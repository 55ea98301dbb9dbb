//! Where the programs of `bench/peers` get what they need: from the package registries into a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::program::output;
use super::{Figures, Load};

/// A cold build of apalis is what takes longest.
const INSTALL_LIMIT: Duration = Duration::from_secs(1_800);
/// Holds what was installed, to be compared with what is wanted.
const STAMP: &str = "installed";

/// A program that measures a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// A script in `bench/peers/node`.
    Node(&'static str),
    /// A script in `bench/peers/python`.
    Python(&'static str),
    /// `bench/peers/apalis`.
    Apalis,
}

impl Program {
    /// Installs what it needs, if that is asked for and not done.
    ///
    /// # Errors
    /// Why it cannot be run, in a line.
    pub async fn prepare(self, cache: &Path, install: bool) -> Result<(), String> {
        let installed = match self {
            Program::Node(_) => is_installed(&cache.join("node"), &source("node/package-lock.json"))?,
            Program::Python(_) => is_installed(&cache.join("python"), &source("python/requirements.txt"))?,
            // Cargo knows best whether it is up to date.
            Program::Apalis => !install && apalis(cache).exists(),
        };
        match (installed, install, self) {
            (false, false, _) => Err("not installed; --install fetches it".to_owned()),
            (false, true, Program::Node(_)) => install_node(&cache.join("node")).await,
            (false, true, Program::Python(_)) => install_python(&cache.join("python")).await,
            (false, true, Program::Apalis) => build_apalis(cache).await,
            (true, ..) => Ok(()),
        }
    }

    /// Measures a round.
    ///
    /// # Errors
    /// Why there is no figure, in a line.
    pub async fn run(self, cache: &Path, url: &str, load: Load, limit: Duration) -> Result<Figures, String> {
        let mut command = match self {
            Program::Node(script) => {
                // Modules are looked for from where a script is.
                let folder = cache.join("node");
                copy(&source("node"), &folder, ".mjs")?;
                let mut command = Command::new(node(&folder));
                command.arg(folder.join(script));
                command
            }
            Program::Python(script) => {
                let mut command = Command::new(cache.join("python/bin/python"));
                command.arg("-B").arg(source("python").join(script));
                command
            }
            Program::Apalis => Command::new(apalis(cache)),
        };
        command.arg(url).args([load.jobs, load.batch, load.clients].map(|number| number.to_string()));
        let printed = output(&mut command, limit).await?;
        let line = printed.lines().last().unwrap_or_default();
        Figures::parse(line).map_err(|error| error.to_string())
    }
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(path)
}

/// Built as this program is.
fn apalis(cache: &Path) -> PathBuf {
    let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
    cache.join("apalis").join(profile).join("leasehold-bench-apalis")
}

/// The one that was installed beside the scripts, as that of the machine may be too old for them. The registry has it
/// for Linux.
fn node(folder: &Path) -> PathBuf {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let system = std::env::consts::OS;
    let own = folder.join(format!("node_modules/node-{system}-{processor}/bin/node"));
    if own.exists() { own } else { PathBuf::from("node") }
}

fn is_installed(folder: &Path, wanted: &Path) -> Result<bool, String> {
    let wanted = fs::read(wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
    Ok(fs::read(folder.join(STAMP)).is_ok_and(|installed| installed == wanted))
}

async fn install_node(folder: &Path) -> Result<(), String> {
    copy(&source("node"), folder, ".json")?;
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    output(&mut npm, INSTALL_LIMIT).await?;
    stamp(folder, &source("node/package-lock.json"))
}

async fn install_python(folder: &Path) -> Result<(), String> {
    output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder), INSTALL_LIMIT).await?;
    let wanted = source("python/requirements.txt");
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(&wanted);
    output(&mut pip, INSTALL_LIMIT).await?;
    stamp(folder, &wanted)
}

async fn build_apalis(cache: &Path) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(source("apalis/Cargo.toml"));
    cargo.arg("--target-dir").arg(cache.join("apalis"));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    output(&mut cargo, INSTALL_LIMIT).await.map(drop)
}

fn stamp(folder: &Path, wanted: &Path) -> Result<(), String> {
    fs::copy(wanted, folder.join(STAMP)).map(drop).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Files with this ending.
fn copy(from: &Path, to: &Path, ending: &str) -> Result<(), String> {
    let copied = || {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().ends_with(ending) {
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        std::io::Result::Ok(())
    };
    copied().map_err(|error| format!("{}: {error}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_is_fetched_unless_asked() {
        let cache = tempfile::tempdir().unwrap();
        for program in [Program::Node("x.mjs"), Program::Python("x.py"), Program::Apalis] {
            let prepared = program.prepare(cache.path(), false).await;
            assert_eq!(prepared, Err("not installed; --install fetches it".to_owned()));
        }
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_versions_are_not_what_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = folder.path().join("wanted");
        fs::write(&wanted, "pg-boss 1").unwrap();
        stamp(folder.path(), &wanted).unwrap();
        assert_eq!(is_installed(folder.path(), &wanted), Ok(true));
        fs::write(&wanted, "pg-boss 2").unwrap();
        assert_eq!(is_installed(folder.path(), &wanted), Ok(false));
    }
}
