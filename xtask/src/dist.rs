//! The binary that is given away: one file that needs no library of the machine it runs on.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{cargo, read, show};
use crate::installed::missing;
use crate::{Outcome, elf, source};

const TARGET: &str = "x86_64-unknown-linux-musl";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let profile = match arguments {
        [] => Profile { name: "release", flags: &["--release"] },
        [flag] if flag == "--debug" => Profile { name: "debug", flags: &[] },
        [unknown, ..] => return Err(format!("dist takes --debug or nothing, not '{unknown}'")),
    };
    // A few dependencies have C and assembler.
    if missing(&["musl-gcc"]).is_some() {
        return Err("musl-gcc is not installed: apt-get install musl-tools".to_owned());
    }
    let build = ["build", "--locked", "--package", "leasehold-cli", "--target", TARGET];
    show(&format!("build for {TARGET}"), cargo().args(build).args(profile.flags))
        .map_err(|failed| format!("{failed}; if the target is missing: rustup target add {TARGET}"))?;
    let path = target_folder().join(TARGET).join(profile.name).join("leasehold");
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let needs = elf::needs(&bytes).map_err(|reason| format!("{}: {reason}", path.display()))?;
    if !needs.is_empty() {
        return Err(format!("{} is not static: it needs {}", path.display(), needs.join(", ")));
    }
    let version = said(Command::new(&path).arg("--version"))?;
    let digest = said(Command::new("sha256sum").arg(&path))?;
    let digest = digest.split(' ').next().unwrap_or_default();
    println!("\n{}\n{version}, static\n{} bytes\nsha256 {digest}", path.display(), bytes.len());
    Ok(())
}

struct Profile {
    name: &'static str,
    flags: &'static [&'static str],
}

fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => source::root().join(Path::new(&folder)),
        None => source::root().join("target"),
    }
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = read(command)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{:?}: {}", command.get_program(), output.status)),
    }
}
