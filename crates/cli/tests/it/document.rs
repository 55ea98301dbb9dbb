//! What documents promise, run.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's own files, by the path that a reader knows.
pub(crate) fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(file(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The first block in a language below a heading.
pub(crate) fn block(path: &str, heading: &str, language: &str) -> String {
    let text = text(path);
    let (_, below) =
        text.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("{path}: no {heading}"));
    let section = below.split("\n## ").next().expect("has a first part");
    let (_, block) = section
        .split_once(&format!("```{language}\n"))
        .unwrap_or_else(|| panic!("{path}, {heading}: no block of {language}"));
    block.split("```").next().expect("has a first part").to_owned()
}

/// A shell that finds the binary of this build, in a folder of its own.
pub(crate) struct Shell {
    folder: tempfile::TempDir,
    environment: Vec<(&'static str, String)>,
}

/// `cargo` is only named: what it would build is this build, and examples have a run of their own. Whatever was started
/// in the background ends with the shell.
const BEFORE: &str = "cargo() { echo \"cargo $*\"; }\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n";

impl Shell {
    /// For a script that talks to a server.
    pub(crate) fn with_server(endpoint: &str) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        Shell { folder, environment: vec![("LEASEHOLD_ENDPOINT", endpoint.to_owned())] }
    }

    /// For a script that starts its own server: it listens, and is looked for, at a port that is free.
    pub(crate) fn with_address_to_serve_at() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a free port").to_string();
        let mut shell = Shell::with_server(&format!("http://{address}"));
        shell.environment.push(("LEASEHOLD_ADDRESS", address));
        shell.environment.push(("LEASEHOLD_LOG", "error".to_owned()));
        shell
    }

    /// Runs to the end; the exit code, and what was printed to stdout and stderr in the order in which it came.
    pub(crate) fn run(&self, script: &str) -> (Option<i32>, String) {
        let binary = Path::new(env!("CARGO_BIN_EXE_leasehold"));
        let mut path = binary.parent().expect("lies in a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        for (name, _) in std::env::vars()
            .filter(|(name, _)| name.starts_with("LEASEHOLD_") || name.starts_with("QUERATOR_"))
        {
            command.env_remove(name);
        }
        let ran = command
            .args(["-c", &format!("exec 2>&1\n{BEFORE}{script}")])
            .current_dir(self.folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", self.folder.path())
            .env("PATH", path)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    }
}
