//! What goes wrong in a first hour: each is told on one line, with its cause and what to do next, and hides what is secret.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::served::{Ran, Server, leasehold};

/// Port 1 of loopback: nobody listens there.
const NOWHERE: &str = "http://127.0.0.1:1";
const DATABASE: &str = "postgres://app:hunter2@127.0.0.1:1/app?connect_timeout=1";

/// The exit code, and what the line must have: what, why, what next.
struct Told {
    code: i32,
    words: &'static [&'static str],
}

fn check(arguments: &[&str], ran: &Ran, told: &Told) {
    assert_eq!((ran.code, ran.out.as_str()), (told.code, ""), "{arguments:?}: {ran:?}");
    assert_eq!(ran.err.lines().count(), 1, "{arguments:?}: {}", ran.err);
    assert!(ran.err.starts_with("error: "), "{arguments:?}: {}", ran.err);
    for word in told.words {
        assert!(ran.err.contains(word), "{arguments:?} does not say '{word}': {}", ran.err);
    }
    assert!(!ran.err.contains("hunter2"), "{arguments:?}: {}", ran.err);
}

#[test]
fn server_that_is_not_there_and_words_that_are_none() {
    let home = tempfile::tempdir().expect("temporary folder");
    let file = |name: &str, text: &str| fs::write(home.path().join(name), text).expect("writes");
    file("typo.yaml", "limits:\n  conections: 7\n");
    file("broken.yaml", "limits: [\n");
    file("a-file", "");
    let told = |code, words| Told { code, words };
    for (arguments, told) in [
        (
            &["queue", "list", "--endpoint", NOWHERE][..],
            told(4, &["127.0.0.1:1", "refused", "leasehold serve", "--endpoint"]),
        ),
        (&["health", "--endpoint", NOWHERE], told(4, &["127.0.0.1:1", "leasehold serve"])),
        (&["lock", "acquire", "a", "--endpoint", NOWHERE], told(4, &["127.0.0.1:1", "leasehold serve"])),
        (&["queue", "list", "--endpoint", "localhost:2319"], told(2, &["http://127.0.0.1:2319"])),
        (&["queue", "list", "--jsn"], told(2, &["'--jsn'", "'--json'", "leasehold queue list --help"])),
        (&["queue", "lst"], told(2, &["'lst'", "'list'", "leasehold queue --help"])),
        (&["serv"], told(2, &["'serv'", "'serve'"])),
        (&["lock", "acquire", "a", "--ttl", "soon"], told(2, &["'soon'", "--ttl", "--help"])),
        (&["lock", "status", "a", "--backend", DATABASE], told(4, &["lock.", "refused", "leasehold doctor"])),
        (&["schema", "check", "--store", DATABASE], told(4, &["database", "refused", "leasehold doctor"])),
        (&["state", "shards", "--store", DATABASE], told(4, &["refused", "leasehold doctor"])),
        (&["state", "shards"], told(2, &["--store", "LEASEHOLD_STATE_STORE"])),
        (
            &["serve", "--config", "typo.yaml"],
            told(2, &["conections", "did you mean `connections`", "config check"]),
        ),
        (&["serve", "--config", "broken.yaml"], told(2, &["broken.yaml", "config check"])),
        (&["serve", "--config", "none.yaml"], told(2, &["none.yaml", "No such file", "--config"])),
        (&["serve", "--store", "a-file"], told(2, &["a-file", "not a folder", "--store"])),
        (&["serve", "--store", "a-file/data"], told(4, &["a-file/data", "Not a directory", "--store"])),
        (&["serve", "--store", "postgres://"], told(2, &["txn.", "postgres://USER"])),
        (&["serve", "--store", "memory:", "--address", "127.0.0.1"], told(2, &["127.0.0.1:2319"])),
        (
            &["serve", "--store", "memory:", "--address", "192.0.2.1:2319"],
            told(4, &["192.0.2.1:2319", "--address"]),
        ),
        (
            &["queue", "list", "--ca-file", "none.pem", "--endpoint", "https://127.0.0.1:1"],
            told(2, &["none.pem"]),
        ),
        (&["queue", "list", "--profile", "work"], told(2, &["'work'", "config.toml"])),
    ] {
        let ran = Ran::from(
            leasehold(home.path()).current_dir(home.path()).args(arguments).output().expect("runs"),
        );
        check(arguments, &ran, &told);
    }
}

#[test]
fn keys_that_open_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let config = folder.path().join("config.yaml");
    fs::write(&config, "auth-backend:\n  driver: internal\n").expect("writes");
    let server = Server::start_with(&["--config", config.to_str().expect("is text")]);
    let user = server.json(&["user", "create", "ada"]);
    let user = user["id"].as_str().expect("is text");
    let key = server.json(&["apikey", "create", user]);
    let key = key["key"].as_str().expect("is text");
    let unknown = format!("qtr-live-{}", "0".repeat(43));
    let told = |words| Told { code: 2, words };
    for (key, told) in [
        ("hunter2", told(&["api key is invalid", "--api-key", "LEASEHOLD_API_KEY"])),
        (&unknown, told(&["api key does not exist", "--api-key", "LEASEHOLD_API_KEY"])),
        (key, told(&["access denied", "leasehold binding create"])),
    ] {
        let arguments = ["queue", "list", "--api-key", key];
        let ran = server.run(&arguments);
        check(&arguments, &ran, &told);
        assert!(!ran.err.contains(key), "{}", ran.err);
    }
}

/// The right to write everywhere, which root has, is given up first.
#[test]
fn folder_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("is ours");
    let home = tempfile::tempdir().expect("temporary folder");
    let data = folder.path().join("data");
    let arguments = ["serve", "--store", data.to_str().expect("is text"), "--address", "127.0.0.1:0"];
    let mut command = leasehold(home.path());
    if rustix::process::geteuid().is_root() {
        let binary = command.get_program().to_owned();
        command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"]).arg(binary);
    }
    let ran = Ran::from(command.args(arguments).output().expect("runs"));
    check(&arguments, &ran, &Told { code: 4, words: &["data", "Permission denied", "--store", "written"] });
}

/// An answer is told once: who asked must learn that it was lost, and not so if nobody reads on.
#[test]
fn answer_that_cannot_be_written_is_told() {
    let server = Server::start();
    for (arguments, words) in [
        (&["lock", "acquire", "a"][..], &["stdout", "No space left"][..]),
        (&["queue", "list", "--json"], &["stdout", "No space left"]),
        (&["list"], &["stdout", "No space left"]),
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let ran = Ran::from(server.command(arguments).stdout(full).output().expect("runs"));
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert!(words.iter().all(|word| ran.err.contains(word)), "{arguments:?}: {}", ran.err);

        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ran = Ran::from(server.command(arguments).stdout(writer).output().expect("runs"));
        assert_ne!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(!ran.err.contains("stdout"), "{arguments:?}: {}", ran.err);
    }
}
