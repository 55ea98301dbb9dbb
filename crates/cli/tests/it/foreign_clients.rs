//! The clients of the quick start, each run as it stands there against a real server, and what the server then holds.
//!
//! What needs an interpreter is ignored unless asked for: `cargo xtask test clients` runs those whose interpreter is
//! installed, and names the others.

#[path = "../../../../examples/clients/rust/src/main.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "a program of its own, of which the test runs the part below main"
)]
mod rust_client;

use std::process::Command;

use parking_lot::Mutex;
use serde_json::Value;

use crate::document::{Shell, block, file, text};
use crate::served::Server;

const PRINTED: &str = "leased one\nleased two\ncompleted 2\nacquired with fence 000000000000001\nrefused while held\n\
                       extended\nreleased\n";

/// Two of three items are completed, the third was never touched, and the lock was held once and is free.
fn judge(server: &Server, printed: &str) {
    assert_eq!(printed, PRINTED);
    let stored = server.json(&["items", "list", "letters"]);
    let items = stored["items"].as_array().expect("is a list");
    assert_eq!(items.len(), 1, "{stored}");
    assert_eq!((&items[0]["payload"], &items[0]["attempts"]), (&"dGhyZWU=".into(), &Value::Null));
    let metrics = server.get("/metrics");
    for (event, items) in [("produced", 3), ("leased", 2), ("completed", 2), ("retried", 0)] {
        let line = format!("leasehold_queue_events_total{{queue=\"letters\",event=\"{event}\"}} {items}");
        assert!(metrics.lines().any(|found| found == line), "no {line}: {metrics}");
    }
    assert_eq!(server.json(&["lock", "status", "ledger"])["locked"], false);
    assert_eq!(server.json(&["lock", "acquire", "ledger"])["fence"], "000000000000002", "it was held once");
}

fn run(program: &str, arguments: &[&str], folder: &str) {
    let server = Server::start();
    let ran = Command::new(program)
        .args(arguments)
        .current_dir(file(folder))
        .env("LEASEHOLD_ENDPOINT", &server.endpoint)
        .env("QUEUE", "letters")
        .env("KEY", "ledger")
        .env_remove("LEASEHOLD_API_KEY")
        .env("GOTOOLCHAIN", "local")
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{program}: {}{told}", String::from_utf8_lossy(&ran.stdout));
    assert_eq!(told, "", "{program} has nothing to complain of");
    judge(&server, &String::from_utf8(ran.stdout).expect("is text"));
}

#[test]
#[ignore = "needs bash and curl: cargo xtask test clients"]
fn curl_is_served() {
    run("bash", &["first_steps.sh"], "examples/clients/curl");
}

#[test]
#[ignore = "needs python3: cargo xtask test clients"]
fn python_is_served() {
    run("python3", &["-W", "error", "first_steps.py"], "examples/clients/python");
}

#[test]
#[ignore = "needs node: cargo xtask test clients"]
fn node_is_served() {
    run("node", &["first_steps.mjs"], "examples/clients/node");
}

#[test]
#[ignore = "needs go: cargo xtask test clients"]
fn go_is_served() {
    run("go", &["run", "."], "examples/clients/go");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rust_is_served() {
    let server = Server::start();
    let printed = Mutex::new(String::new());
    let print = |line: String| printed.lock().push_str(&(line + "\n"));
    rust_client::first_steps(&server.endpoint, "letters", "ledger", print).await.expect("is served");
    let printed = printed.into_inner();
    tokio::task::spawn_blocking(move || judge(&server, &printed)).await.expect("judges");
}

#[test]
fn quick_start_shows_the_clients_as_they_are_run() {
    for (heading, language, path) in [
        ("## curl", "bash", "examples/clients/curl/first_steps.sh"),
        ("## Python", "python", "examples/clients/python/first_steps.py"),
        ("## Node", "js", "examples/clients/node/first_steps.mjs"),
        ("## Go", "go", "examples/clients/go/main.go"),
        ("## Rust", "rust", "examples/clients/rust/src/main.rs"),
    ] {
        assert!(
            block("docs/guide/quick-start.md", heading, language) == text(path),
            "{heading} is not {path}"
        );
    }
}

#[test]
fn first_minute_of_the_quick_start_runs() {
    let script = block("docs/guide/quick-start.md", "## The first minute", "sh");
    let (code, printed) = Shell::with_address_to_serve_at().run(&format!("set -e\n{script}"));
    assert_eq!(code, Some(0), "{printed}");
    for promised in [
        "well, version",
        "produced 1 item(s)",
        "\"attempts\":1",
        "my fence is 000000000000001",
        "0 problem(s)",
    ] {
        assert!(printed.contains(promised), "no '{promised}': {printed}");
    }
}
