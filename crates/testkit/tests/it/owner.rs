//! A process of its own that owns servers and can be ended in any way.

use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Far more than cleaning takes, far less than anyone would wait.
const LIMIT: Duration = Duration::from_secs(15);

/// `leasehold-services up <service>`, and what it started.
pub(crate) struct Owner {
    pub(crate) process: Child,
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    pub(crate) folder: PathBuf,
}

impl Owner {
    /// Starts the owner and waits until its server is up.
    pub(crate) fn of(service: &str) -> Owner {
        let mut process = Command::new(env!("CARGO_BIN_EXE_leasehold-services"))
            .args(["up", service])
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("services starts");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let lines: Vec<String> =
            output.lines().map_while(Result::ok).take_while(|line| !line.starts_with("Ctrl-C")).collect();
        let address = address_in(&lines[0]);
        let (pid, folder) = server_on(address.port());
        Owner { process, address, pid, folder }
    }

    /// Sends a signal to the owner's whole process group, as a terminal or a test runner does.
    pub(crate) fn signal(&self, name: &str) {
        signal(name, &format!("-{}", self.process.id()));
    }

    /// Waits for the owner's end, then for that of everything it had.
    pub(crate) fn assert_nothing_is_left(mut self) {
        self.process.wait().expect("owner ends");
        let begun = Instant::now();
        loop {
            let left = [
                (is_running(self.pid), "process"),
                (self.folder.exists(), "folder"),
                (TcpStream::connect(self.address).is_ok(), "port"),
            ];
            let left: Vec<&str> = left.into_iter().filter_map(|(is, what)| is.then_some(what)).collect();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "still there: {left:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// `postgres 15.18 postgres://postgres@127.0.0.1:20001/postgres` and `redis 7.0.15 redis://127.0.0.1:20002`.
pub(crate) fn address_in(line: &str) -> SocketAddr {
    let tail = &line[line.find("127.0.0.1").expect("an address")..];
    tail.split('/').next().expect("a part").parse().expect("an address")
}

/// The server's folder holds its process id and a command line that names its port.
fn server_on(port: u16) -> (u32, PathBuf) {
    // Durable, hence on disk and not in memory.
    let root = leasehold_testkit::folder().expect("testkit folder");
    for entry in std::fs::read_dir(root).expect("readable").flatten() {
        let run = std::fs::read_to_string(entry.path().join("run")).unwrap_or_default();
        if run.contains(&format!("'{port}'")) {
            let pid = std::fs::read_to_string(entry.path().join("server.pid")).expect("pid file");
            return (pid.trim().parse().expect("a pid"), entry.path());
        }
    }
    panic!("no server folder for port {port}");
}

/// Sends a signal to a process, or with a minus sign before its id to its group.
pub(crate) fn signal(name: &str, target: &str) {
    let words = ["-c", "kill -s \"$1\" -- \"$2\"", "kill", name, target];
    assert!(Command::new("sh").args(words).status().expect("sh").success());
}

/// A zombie is gone: only its parent has not asked for it yet.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
