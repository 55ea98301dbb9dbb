//! A server of the real binary, and the real binary as its client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// How long a command waits before it takes a queue for empty: a busy machine may need that long for what is there.
pub(crate) const EMPTY_AFTER: &str = "2s";

pub(crate) struct Server {
    process: Child,
    pub(crate) endpoint: String,
    /// Where operators ask, if that is elsewhere.
    pub(crate) admin_endpoint: Option<String>,
    /// An empty home, so that nobody's profiles are found.
    home: tempfile::TempDir,
}

/// A command that sees nothing of whoever runs the tests.
pub(crate) fn leasehold(home: &Path) -> Command {
    unseeing(Command::new(env!("CARGO_BIN_EXE_leasehold")), home)
}

fn unseeing(mut command: Command, home: &Path) -> Command {
    for (name, _) in
        std::env::vars().filter(|(name, _)| name.starts_with("LEASEHOLD_") || name.starts_with("QUERATOR_"))
    {
        command.env_remove(name);
    }
    command.env_remove("XDG_CONFIG_HOME").env("HOME", home).stdin(Stdio::null());
    command
}

/// The body of a page.
pub(crate) fn get(endpoint: &str, path: &str) -> String {
    let address = endpoint.strip_prefix("http://").expect("is an endpoint");
    let mut stream = TcpStream::connect(address).expect("connects");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sends");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("answers");
    reply.split_once("\r\n\r\n").expect("has a body").1.to_owned()
}

impl Server {
    pub(crate) fn start() -> Self {
        Server::start_with(&[])
    }

    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Server::start_on("memory:", arguments)
    }

    pub(crate) fn start_on(store: &str, arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("temporary folder");
        let command = leasehold(home.path());
        Server::spawn(home, command, store, arguments)
    }

    /// None of its files may grow beyond so many KiB: then the disk is full for it.
    pub(crate) fn start_on_small_disk(store: &str, kib: u32) -> Self {
        // The signal would end it; ignored, the write fails. The hard limit stays, so that there can be room again.
        let limited = "trap '' XFSZ; ulimit -S -f $0; exec \"$@\"";
        let home = tempfile::tempdir().expect("temporary folder");
        let mut command = unseeing(Command::new("bash"), home.path());
        command.args(["-c", limited, &kib.to_string(), env!("CARGO_BIN_EXE_leasehold")]);
        Server::spawn(home, command, store, &[])
    }

    /// Its files may grow as they like.
    pub(crate) fn make_room(&self) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let unlimited = Rlimit { current: None, maximum: None };
        prlimit(Some(Pid::from_child(&self.process)), Resource::Fsize, unlimited).expect("is its owner");
    }

    fn spawn(home: tempfile::TempDir, mut command: Command, store: &str, arguments: &[&str]) -> Self {
        let mut process = command
            .args(["serve", "--store", store, "--address", "127.0.0.1:0", "--log-format", "json"])
            .args(arguments)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("starts");
        let mut log = BufReader::new(process.stderr.take().expect("piped")).lines();
        let event = log
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.expect("is text")).expect("is JSON"))
            .find(|event| event["url"].is_string())
            .expect("says where it listens");
        std::thread::spawn(move || log.for_each(drop));
        let url = |field: &str| event[field].as_str().map(str::to_owned);
        let endpoint = url("url").expect("is text");
        Server { process, endpoint, admin_endpoint: url("admin_url"), home }
    }

    /// The most memory that it has had so far.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).expect("runs on Linux");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("has a peak");
        peak.trim().strip_suffix(" kB").and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1_024
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = leasehold(self.home());
        command.env("LEASEHOLD_ENDPOINT", &self.endpoint).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("runs"))
    }

    /// With this on stdin.
    pub(crate) fn feed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut running = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        running.stdin.take().expect("piped").write_all(input).expect("takes its input");
        Ran::from(running.wait_with_output().expect("ends"))
    }

    /// The body of a page, from where operators ask.
    pub(crate) fn get(&self, path: &str) -> String {
        let endpoint = self.admin_endpoint.as_ref().unwrap_or(&self.endpoint);
        get(endpoint, path)
    }

    /// What must succeed, and its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.json()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code().expect("ended by itself"),
            out: String::from_utf8(output.stdout).expect("is text"),
            err: String::from_utf8(output.stderr).expect("is text"),
        }
    }
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("is a line of JSON")).collect()
    }

    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}
