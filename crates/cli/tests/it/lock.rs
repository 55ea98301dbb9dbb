//! `leasehold lock …` as a script uses it: output, exit codes, signals.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

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
