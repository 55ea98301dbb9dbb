//! The binary that is given away: one file that needs no library of the machine it runs on.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::cargo::{cargo, read, show, target_folder};
use crate::installed::missing;
use crate::{Outcome, elf};

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
    // Whoever downloads it cannot build in what is left out.
    let build = ["build", "--locked", "--package", "leasehold-cli", "--features", "full", "--target", TARGET];
    let started = Instant::now();
    show(&format!("build for {TARGET}"), cargo().args(build).args(profile.flags))
        .map_err(|failed| format!("{failed}; if the target is missing: rustup target add {TARGET}"))?;
    let took = started.elapsed().as_secs();
    let path = target_folder().join(TARGET).join(profile.name).join("leasehold");
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let needs = elf::needs(&bytes).map_err(|reason| format!("{}: {reason}", path.display()))?;
    if !needs.is_empty() {
        return Err(format!("{} is not static: it needs {}", path.display(), needs.join(", ")));
    }
    let version = said(Command::new(&path).arg("--version"))?;
    serves(&path)?;
    let digest = said(Command::new("sha256sum").arg(&path))?;
    let digest = digest.split(' ').next().unwrap_or_default();
    println!(
        "\n{}\n{version}, static, serves\n{} bytes, built in {took} s\nsha256 {digest}",
        path.display(),
        bytes.len()
    );
    Ok(())
}

/// Starts it as a server and asks whether it is well.
fn serves(binary: &Path) -> Outcome {
    let arguments = ["serve", "--store", "memory:", "--address", "127.0.0.1:0", "--log-format", "json"];
    let process = Command::new(binary).args(arguments).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut server = Served(process.map_err(|error| format!("{}: {error}", binary.display()))?);
    let log = server.0.stderr.take().ok_or("its log is piped")?;
    // As it says itself: `"url":"http://127.0.0.1:40123"`.
    let url = BufReader::new(log).lines().map_while(Result::ok).find_map(|line| {
        let (_, rest) = line.split_once("\"url\":\"")?;
        Some(rest.split_once('"')?.0.to_owned())
    });
    let url = url.ok_or("the binary ended without serving")?;
    said(Command::new(binary).args(["health", "--timeout", "10s", "--endpoint", &url])).map(drop)
}

/// A server that ends with the check.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Profile {
    name: &'static str,
    flags: &'static [&'static str],
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = read(command)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{:?}: {}", command.get_program(), output.status)),
    }
}
