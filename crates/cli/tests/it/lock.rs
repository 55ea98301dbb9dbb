//! `leasehold lock …` as a script uses it: output, exit codes, signals.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

fn leasehold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.env_remove("LEASEHOLD_BACKEND").args(arguments);
    command
}

/// Runs on the embedded store in this folder.
fn lock(folder: &Path, arguments: &[&str]) -> Output {
    let backend = folder.join("store");
    let mut command = leasehold(&["lock"]);
    command.args(arguments).env("LEASEHOLD_BACKEND", &backend).output().expect("runs")
}

fn json(output: &Output) -> Value {
    let shown = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&shown).unwrap_or_else(|error| panic!("{error}: {shown} {output:?}"))
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("ended by itself")
}

#[test]
fn lock_goes_through_its_life_by_exit_codes_and_json() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let acquired = lock(folder.path(), &["acquire", "billing", "--ttl", "1m", "--json"]);
    assert_eq!(code(&acquired), 0, "{acquired:?}");
    let acquired = json(&acquired);
    assert_eq!(acquired["fence"], "000000000000001");
    let lock_id = acquired["lockId"].as_str().expect("has an id").to_owned();

    let held = lock(folder.path(), &["acquire", "billing", "--json"]);
    assert_eq!((code(&held), &json(&held)["reason"]), (3, &Value::from("locked")));
    assert_eq!(json(&lock(folder.path(), &["status", "billing", "--json"]))["locked"], true);

    let extended = lock(folder.path(), &["extend", &lock_id, "--ttl", "2m", "--json"]);
    assert_eq!(code(&extended), 0);
    assert!(json(&extended)["expiresAtMs"].as_i64() > acquired["expiresAtMs"].as_i64());

    let looked_up = lock(folder.path(), &["lookup", "billing", "--json"]);
    let shown = String::from_utf8_lossy(&looked_up.stdout).into_owned();
    assert!(!shown.contains("billing") && !shown.contains(&lock_id), "hashes unless asked for: {shown}");
    let raw = json(&lock(folder.path(), &["lookup", "--lock-id", &lock_id, "--raw", "--json"]));
    assert_eq!((&raw["key"], &raw["lockId"]), (&Value::from("billing"), &Value::from(lock_id.as_str())));
    let listed = json(&lock(folder.path(), &["list", "--json"]));
    assert_eq!(listed["locks"][0]["key"], "billing");
    assert_eq!(listed["locks"][0]["lockId"], Value::Null);

    assert_eq!(code(&lock(folder.path(), &["release", &lock_id])), 0);
    let again = lock(folder.path(), &["release", &lock_id, "--json"]);
    assert_eq!((code(&again), &json(&again)["reason"]), (3, &Value::from("not-found")));
    assert_eq!(code(&lock(folder.path(), &["lookup", "billing"])), 3);
    assert_eq!(json(&lock(folder.path(), &["status", "billing", "--json"]))["locked"], false);
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_opened() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let long = "x".repeat(513);
    for arguments in [
        &["acquire", ""][..],
        &["acquire", &long],
        &["acquire", "a", "--ttl", "0s"],
        &["acquire", "a", "--ttl", "1"],
        &["release", "not-an-id"],
        &["extend", "AAAAAAAAAAAAAAAAAAAAAA", "--ttl", "1ns"],
        &["lookup"],
        &["list", "--limit", "0"],
        &["run", "a"],
    ] {
        let refused = lock(folder.path(), arguments);
        assert_eq!(code(&refused), 2, "{arguments:?}: {refused:?}");
    }
    assert!(!folder.path().join("store").exists());
    let refused =
        leasehold(&["lock", "status", "a", "--backend", "mysql://u:hunter2@h/d"]).output().expect("runs");
    assert_eq!(code(&refused), 2);
    let shown = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(shown.contains("lock.bad_config") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn server_that_is_not_there_is_told_as_unavailable() {
    let refused =
        leasehold(&["lock", "status", "a", "--backend", "http://127.0.0.1:1"]).output().expect("runs");
    assert_eq!(code(&refused), 4, "{refused:?}");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("no connection to the server") && told.contains("'leasehold serve'"), "{told}");
}

struct Server(Child, String);

impl Server {
    fn start() -> Self {
        let mut process =
            leasehold(&["serve", "--store", "memory:", "--address", "127.0.0.1:0", "--log-format", "json"])
                .stderr(Stdio::piped())
                .spawn()
                .expect("starts");
        let mut log = BufReader::new(process.stderr.take().expect("piped")).lines();
        let url = log
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.expect("is text")).expect("is JSON"))
            .find_map(|event| Some(event["url"].as_str()?.to_owned()));
        std::thread::spawn(move || log.for_each(drop));
        Server(process, url.expect("says where it listens"))
    }

    fn lock(&self, arguments: &[&str]) -> Command {
        let mut command = leasehold(&["lock"]);
        command.args(arguments).env("LEASEHOLD_BACKEND", &self.1);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As one in 64 does.
#[test]
fn lock_id_that_begins_with_a_hyphen_is_taken_by_every_command() {
    let server = Server::start();
    let id = "-QAAAAAAAAAAAAAAAAAAAA";
    for arguments in [
        &["acquire", "billing", "--lock-id", id][..],
        &["lookup", "--lock-id", id, "--json"],
        &["extend", id, "--ttl", "1m"],
        &["release", id, "--json"],
    ] {
        let ran = server.lock(arguments).output().expect("runs");
        assert_eq!(code(&ran), 0, "{arguments:?}: {ran:?}");
    }
}

#[test]
fn run_holds_the_lock_passes_the_fence_and_returns_the_exit_code() {
    let server = Server::start();
    let nested = format!(
        "printf %s \"$LEASEHOLD_FENCE\"; {} lock status nightly --backend {} --json; exit 7",
        env!("CARGO_BIN_EXE_leasehold"),
        server.1
    );
    let ran = server.lock(&["run", "nightly", "--", "sh", "-c", &nested]).output().expect("runs");
    assert_eq!(code(&ran), 7, "{ran:?}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), "000000000000001{\"locked\":true}");
    let after = server.lock(&["status", "nightly", "--json"]).output().expect("runs");
    assert_eq!(json(&after)["locked"], false, "released when the command ended");
}

#[test]
fn run_that_is_held_by_another_does_not_run() {
    let server = Server::start();
    assert_eq!(code(&server.lock(&["acquire", "nightly"]).output().expect("runs")), 0);
    let refused = server.lock(&["run", "nightly", "--", "sh", "-c", "echo ran"]).output().expect("runs");
    assert_eq!((code(&refused), refused.stdout.as_slice()), (3, &b""[..]), "{refused:?}");
}

#[test]
fn run_of_a_missing_command_releases_the_lock() {
    let server = Server::start();
    let refused = server.lock(&["run", "nightly", "--", "/no/such/command"]).output().expect("runs");
    assert_eq!(code(&refused), 127, "{refused:?}");
    let after = server.lock(&["status", "nightly", "--json"]).output().expect("runs");
    assert_eq!(json(&after)["locked"], false);
}

#[test]
fn run_forwards_signals_and_tells_of_a_command_that_one_ended() {
    let server = Server::start();
    let mut running = server
        .lock(&[
            "run",
            "nightly",
            "--",
            "sh",
            "-c",
            "trap 'echo got it; exit 5' USR1; echo ready; while :; do sleep 0.05; done",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut output = BufReader::new(running.stdout.take().expect("piped"));
    let mut ready = String::new();
    output.read_line(&mut ready).expect("is ready");
    let sent = Command::new("kill").args(["-s", "USR1", &running.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("ends");
    assert_eq!((running.wait().expect("ends").code(), rest.trim()), (Some(5), "got it"));

    let killed =
        server.lock(&["run", "nightly", "--", "sh", "-c", "kill -s TERM $$"]).output().expect("runs");
    assert_eq!(code(&killed), 128 + 15);
}

#[test]
fn run_stops_the_command_when_the_lock_is_lost() {
    let server = Server::start();
    let mut running = server
        .lock(&[
            "run",
            "nightly",
            "--ttl",
            "10s",
            "--",
            "sh",
            "-c",
            "trap 'echo stopping; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut output = BufReader::new(running.stdout.take().expect("piped"));
    let mut ready = String::new();
    output.read_line(&mut ready).expect("is ready");
    let found = json(&server.lock(&["lookup", "nightly", "--raw", "--json"]).output().expect("runs"));
    let lock_id = found["lockId"].as_str().expect("is held");
    assert_eq!(code(&server.lock(&["release", lock_id]).output().expect("runs")), 0);
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("ends");
    assert_eq!((running.wait().expect("ends").code(), rest.trim()), (Some(6), "stopping"));
}

#[test]
fn run_stops_a_command_that_holds_too_long_and_does_not_listen() {
    let server = Server::start();
    let started = std::time::Instant::now();
    let ran = server
        .lock(&[
            "run",
            "nightly",
            "--ttl",
            "1s",
            "--hold-max",
            "100ms",
            "--",
            "sh",
            "-c",
            "trap '' TERM; while :; do sleep 0.05; done",
        ])
        .output()
        .expect("runs");
    assert_eq!(code(&ran), 6, "{ran:?}");
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("--hold-max"), "{ran:?}");
}

/// The output ends when the last process that has it ends.
#[test]
fn run_stops_what_the_command_has_started_too() {
    let server = Server::start();
    for script in ["sleep 60; echo late", "trap '' TERM; sleep 60; echo late", "sleep 60 & wait; echo late"] {
        let started = std::time::Instant::now();
        let held = ["run", "nightly", "--ttl", "1s", "--hold-max", "100ms"];
        let ran = server.lock(&[&held[..], &["--", "sh", "-c", script]].concat()).output().expect("runs");
        assert_eq!((code(&ran), ran.stdout.as_slice()), (6, &b""[..]), "{script}: {ran:?}");
        assert!(started.elapsed() < Duration::from_secs(30), "{script}: {:?}", started.elapsed());
    }
}

/// A `lock run` under way, whose command has said that it is ready.
struct Running {
    process: Child,
    /// Ends when the last process that has it ends.
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(server: &Server, ttl: &str, script: &str) -> Self {
        Running::start_at(server, Stdio::null(), ttl, script)
    }

    fn start_at(server: &Server, stdin: Stdio, ttl: &str, script: &str) -> Self {
        let mut command = server.lock(&["run", "nightly", "--ttl", ttl, "--", "sh", "-c", script]);
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("starts");
        let mut output = BufReader::new(process.stdout.take().expect("piped"));
        let mut ready = String::new();
        output.read_line(&mut ready).expect("is ready");
        assert_eq!(ready, "ready\n");
        Running { process, output }
    }

    fn signal(&self, number: Signal) {
        kill_process(Pid::from_child(&self.process), number).expect("runs");
    }

    /// What the command and all that it has started still print until they have ended.
    fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("ends");
        rest.trim().to_owned()
    }

    /// The process that it has started to supervise the command.
    fn supervisor(&self) -> Pid {
        let children = format!("/proc/{0}/task/{0}/children", self.process.id());
        let children = std::fs::read_to_string(children).expect("runs");
        let is_supervisor = |id: &&str| {
            std::fs::read(format!("/proc/{id}/cmdline"))
                .is_ok_and(|line| line.windows(9).any(|at| at == b"supervise"))
        };
        let id = children.split(' ').find(is_supervisor).expect("has a supervisor");
        Pid::from_raw(id.parse().expect("is a number")).expect("is not zero")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn is_locked(server: &Server) -> Value {
    json(&server.lock(&["status", "nightly", "--json"]).output().expect("runs"))["locked"].clone()
}

/// Prints `late` if it is left alone.
const GRANDCHILD: &str = "(sleep 20; echo late) & echo ready; wait";

#[test]
fn killed_run_takes_the_command_and_its_children_with_it() {
    let server = Server::start();
    let mut running = Running::start(&server, "60s", GRANDCHILD);
    running.signal(Signal::KILL);
    assert_eq!((running.rest().as_str(), is_locked(&server)), ("", true.into()), "ended before the lease");
}

#[test]
fn killed_run_ends_a_command_that_does_not_listen_before_its_lease_is_over() {
    let server = Server::start();
    let mut running = Running::start(&server, "5s", &format!("trap '' TERM; {GRANDCHILD}"));
    running.signal(Signal::KILL);
    assert_eq!((running.rest().as_str(), is_locked(&server)), ("", true.into()), "ended before the lease");
}

/// Ends at SIGTERM.
const LISTENING: &str = "trap 'echo stopping; exit 0' TERM; echo ready; while :; do sleep 0.05; done";

#[test]
fn command_at_a_terminal_ends_with_a_killed_run() {
    let server = Server::start();
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("is ours");
    let name = ptsname(&terminal, Vec::new()).expect("has a name").into_string().expect("is text");
    let stdin = std::fs::File::open(name).expect("opens");
    let script = format!("trap 'echo poked' USR1; {LISTENING}");
    let mut running = Running::start_at(&server, stdin.into(), "60s", &script);
    // A run that passes signals on has told its supervisor of the command: in the instant before it could not be ended.
    running.signal(Signal::USR1);
    let mut poked = String::new();
    running.output.read_line(&mut poked).expect("is passed on");
    assert_eq!(poked, "poked\n");
    running.signal(Signal::KILL);
    assert_eq!((running.rest().as_str(), is_locked(&server)), ("stopping", true.into()));
}

#[test]
fn run_that_is_stopped_for_longer_than_the_lease_has_lost_its_command() {
    let server = Server::start();
    let mut running = Running::start(&server, "2s", LISTENING);
    running.signal(Signal::STOP);
    // The run has the output too, and goes on later.
    let mut told = String::new();
    running.output.read_line(&mut told).expect("gets SIGTERM");
    assert_eq!(told, "stopping\n");
    running.signal(Signal::CONT);
    assert_eq!(running.process.wait().expect("ends").code(), Some(6));
}

#[test]
fn run_whose_supervisor_is_killed_stops_the_command() {
    let server = Server::start();
    let mut running = Running::start(&server, "60s", LISTENING);
    kill_process(running.supervisor(), Signal::KILL).expect("runs");
    assert_eq!(running.rest(), "stopping");
    assert_eq!(running.process.wait().expect("ends").code(), Some(1));
    let mut told = String::new();
    running.process.stderr.take().expect("piped").read_to_string(&mut told).expect("is text");
    assert!(told.contains("(cli.supervisor)"), "{told}");
    assert_eq!(is_locked(&server), false);
}

/// A service manager sends SIGTERM to every process of a service; the command may take its time.
#[test]
fn supervisor_survives_what_a_service_manager_sends_to_all() {
    let server = Server::start();
    let mut running = Running::start(
        &server,
        "60s",
        "trap 'sleep 0.1; echo stopping; exit 5' TERM; echo ready; while :; do sleep 0.05; done",
    );
    kill_process(running.supervisor(), Signal::TERM).expect("runs");
    running.signal(Signal::TERM);
    assert_eq!(running.rest(), "stopping");
    assert_eq!(running.process.wait().expect("ends").code(), Some(5));
}

#[test]
fn command_inherits_no_file_of_the_run() {
    let server = Server::start();
    let script = "ls /proc/$$/fd; exit 0";
    let alone = Command::new("sh").args(["-c", script]).output().expect("runs");
    let ran = server.lock(&["run", "nightly", "--", "sh", "-c", script]).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&alone.stdout));
}

#[test]
fn schemas_are_printed_for_people_and_for_programs() {
    let home = tempfile::tempdir().expect("temporary folder");
    let printed = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_leasehold"));
        let ran = command.env("HOME", home.path()).arg("schema").args(arguments).output().expect("runs");
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        String::from_utf8(ran.stdout).expect("is text")
    };
    for (arguments, field) in [
        (&["print"][..], "sql"),
        (&["fence-guard"], "schema_sql"),
        (&["fence-guard", "--dialect", "redis"], "example_lua"),
    ] {
        let json: serde_json::Value =
            serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).expect("is JSON");
        let shown = json[field].as_str().expect("is text");
        assert!(!shown.is_empty() && printed(arguments).starts_with(shown), "{arguments:?}: {json}");
    }
}
