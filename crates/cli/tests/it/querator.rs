//! Querator's commands: the texts, the JSON and the exit codes that scripts written for it know.

use std::fs;

use serde_json::{Value, json};

use crate::served::{Server, leasehold};

#[test]
fn items_go_through_their_life_in_the_words_of_querator() {
    let server = Server::start();
    let created = server.run(&["create", "orders"]);
    assert_eq!(
        (created.code, created.out.as_str(), created.err.as_str()),
        (
            0,
            "",
            "Successfully created queue 'orders' (partitions: 1, lease-timeout: 1m, expire-timeout: 1h0m0s)\n"
        )
    );
    let produced = server.run(&[
        "produce",
        "orders",
        "-p",
        "hällo",
        "--kind",
        "greeting",
        "--reference",
        "r",
        "--encoding",
        "e",
    ]);
    assert_eq!(
        (produced.code, produced.out.as_str(), produced.err.as_str()),
        (0, "Successfully produced item with payload of 6 bytes\n", "")
    );
    let fed = server.feed(&["produce", "orders"], b"from\nstdin\xff");
    assert_eq!((fed.code, fed.out.as_str(), fed.err.as_str()), (0, "", ""));

    let leased = server.run(&["lease", "orders", "--batch-size", "10", "--timeout", "5s"]);
    assert_eq!(
        (leased.code, leased.err.as_str()),
        (0, "Successfully leased 2 item(s) from queue 'orders'\n")
    );
    assert!(leased.out.starts_with("{\n  \""), "indented by two: {}", leased.out);
    let leased = leased.json();
    assert_eq!((&leased["queue_name"], &leased["partition"]), (&json!("orders"), &json!(0)));
    let items = leased["items"].as_array().expect("has items");
    let mut first = items[0].as_object().expect("is an object").clone();
    let id = first.remove("id").expect("has an id");
    let deadline = first.remove("leaseDeadline").expect("has a deadline");
    assert!(deadline["seconds"].is_i64(), "{deadline}");
    assert_eq!(
        Value::Object(first),
        json!({"encoding": "e", "kind": "greeting", "reference": "r", "attempts": 1, "bytes": "aMOkbGxv"})
    );

    let ids = server.home().join("ids");
    fs::write(&ids, format!("\n{}\n", items[1]["id"].as_str().expect("is text"))).expect("writes");
    let id = id.as_str().expect("is text");
    let completed =
        server.run(&["complete", "orders", id, "-p", "0", "--file", ids.to_str().expect("is text")]);
    assert_eq!(
        (completed.code, completed.out.as_str(), completed.err.as_str()),
        (0, "", "Successfully completed 2 item(s) in queue 'orders' partition 0\n")
    );
    let deleted = server.run(&["delete", "orders", "--force"]);
    assert_eq!((deleted.code, deleted.err.as_str()), (0, "Successfully deleted queue 'orders'\n"));
}

#[test]
fn queues_are_listed_and_updated_field_by_field() {
    let server = Server::start();
    let none = server.run(&["list"]);
    assert_eq!((none.json(), none.err.as_str()), (json!({"queues": null, "count": 0}), "Found 0 queue(s)\n"));
    server.run(&["create", "dead"]).ok();
    let given =
        ["--lease-timeout", "2m", "--expire-timeout", "3h", "--max-attempts", "5", "--dead-queue", "dead"];
    let created =
        server.run(&[&["create", "orders", "--reference", "r", "--partitions", "2"][..], &given].concat());
    assert!(created.err.ends_with("(partitions: 2, lease-timeout: 2m, expire-timeout: 3h)\n"), "{created:?}");

    let updated = server.run(&["update", "orders", "--lease-timeout", "5m"]);
    assert_eq!((updated.code, updated.err.as_str()), (0, "Successfully updated queue 'orders'\n"));
    let listed = server.run(&["list", "--limit", "1", "--pivot", "o"]);
    assert_eq!(listed.err, "Found 1 queue(s)\n");
    let listed = listed.json();
    let queue = &listed["queues"][0];
    assert_eq!(
        (&queue["queueName"], &queue["leaseTimeout"], &queue["expireTimeout"], &queue["maxAttempts"]),
        (&json!("orders"), &json!("5m0s"), &json!("5h0m0s"), &json!(5)),
        "a lease given alone sets 60 times as much, and what was not given stays: {queue}"
    );
    assert_eq!((&queue["deadQueue"], &queue["reference"]), (&json!("dead"), &json!("r")));
    assert!(queue["createdAt"]["seconds"].is_i64(), "{queue}");
}

#[test]
fn failures_have_their_prefix_twice_around_the_usage_and_end_with_one() {
    let server = Server::start();
    server.run(&["create", "orders"]).ok();
    let url = |path: &str| format!("POST {}/v1/{path} returned", server.endpoint);
    let missing = "'Bad Request' with message: queue does not exist; no such queue named 'nope'";
    let cases: Vec<(&[&str], String)> = vec![
        (
            &["produce", "nope", "-p", "x"],
            format!("failed to produce item: {} {missing}", url("queue.produce")),
        ),
        (&["lease", "nope"], format!("failed to lease items: {} {missing}", url("queue.lease"))),
        (
            &["lease", "orders", "--timeout", "50ms"],
            format!(
                "failed to lease items: {} 'Retry Request' with message: request timeout; no items are in the queue, try again",
                url("queue.lease")
            ),
        ),
        (
            &["complete", "nope", "x", "-p", "0"],
            format!("failed to complete items: {} {missing}", url("queue.complete")),
        ),
        (
            &["update", "nope", "--max-attempts", "1"],
            format!("failed to get current queue info: {} {missing}", url("queues.info")),
        ),
        (&["delete", "nope"], format!("failed to delete queue: {} {missing}", url("queues.delete"))),
        (
            &["create", "orders"],
            format!(
                "failed to create queue: {} 'Bad Request' with message: invalid queue; 'orders' already exists",
                url("queues.create")
            ),
        ),
        (
            &["list", "--limit", "-1"],
            format!(
                "failed to list queues: {} 'Bad Request' with message: limit is invalid; limit cannot be negative",
                url("queues.list")
            ),
        ),
        (
            &["update", "orders", "--max-attempts", "-1"],
            format!(
                "failed to update queue: {} 'Bad Request' with message: max attempts is invalid; cannot be negative number",
                url("queues.update")
            ),
        ),
        (&["update", "orders"], "no update flags provided (use --help to see available options)".to_owned()),
        (
            &["complete", "orders", "-p", "0"],
            "no item IDs provided (use command line arguments or --file)".to_owned(),
        ),
        (&["complete", "orders", "-p", "0", "--file", "/dev/null"], "no item IDs to complete".to_owned()),
        (
            &["complete", "orders", "-p", "0", "--file", "/no/such/file"],
            "failed to open file: No such file or directory (os error 2)".to_owned(),
        ),
        (
            &["complete", "orders", "-p", "0", "--file", "/"],
            "failed to read file: Is a directory (os error 21)".to_owned(),
        ),
        (
            &["produce", "orders", "-p", "x", "--timeout", "soon"],
            "invalid timeout format: time: invalid duration \"soon\"".to_owned(),
        ),
        (
            &["create", "q", "--lease-timeout", "5"],
            "invalid lease-timeout format: time: missing unit in duration \"5\"".to_owned(),
        ),
    ];
    for (arguments, text) in cases {
        let ran = server.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}: {ran:?}");
        let first = ran.err.lines().next().expect("says something");
        assert_eq!(first, format!("Error: {text}"), "{arguments:?}");
        assert_eq!(ran.err.lines().last(), Some(first), "{arguments:?}");
        assert!(
            ran.err.contains(&format!("Usage: leasehold {}", arguments[0])),
            "{arguments:?}: {}",
            ran.err
        );
    }
    for (arguments, prefix) in [
        (
            &["produce", "orders", "-p", "x", "--enqueue-at", "soon"][..],
            "Error: invalid enqueue-at time format (use RFC3339): ",
        ),
        (&["--endpoint", "nonsense", "list"], "Error: failed to create client: "),
        (
            &["list", "--endpoint", "http://127.0.0.1:1"],
            "Error: failed to list queues: no connection to the server",
        ),
        (&["complete", "orders", "x"], "Error: "),
        (&["produce"], "Error: "),
        (&["produce", "orders", "--bogus"], "Error: unexpected argument '--bogus'"),
        (&["--endpoint=http://x", "lease", "orders", "-b", "many"], "Error: invalid value 'many'"),
    ] {
        let ran = server.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {ran:?}");
        assert!(ran.err.starts_with(prefix), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn endpoint_comes_from_the_flag_anywhere_or_from_either_variable() {
    let server = Server::start();
    let bare = || leasehold(server.home());
    let asked = [
        bare().args(["--endpoint", &server.endpoint, "list"]).output(),
        bare().args(["list", "--endpoint", &server.endpoint]).output(),
        bare().env("QUERATOR_ENDPOINT", &server.endpoint).arg("list").output(),
        bare()
            .env("QUERATOR_ENDPOINT", "http://127.0.0.1:1")
            .env("LEASEHOLD_ENDPOINT", &server.endpoint)
            .arg("list")
            .output(),
        bare().args(["--endpoint", &server.endpoint, "queue", "list"]).output(),
    ];
    for output in asked {
        let output = output.expect("runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn version_and_start_up_errors_are_told_as_querator_tells_them() {
    let home = tempfile::tempdir().expect("temporary folder");
    let version = leasehold(home.path()).arg("version").output().expect("runs");
    assert_eq!(version.stdout, format!("querator {}\n", env!("CARGO_PKG_VERSION")).into_bytes());

    let file = home.path().join("config.yaml");
    fs::write(&file, "queue-storage:\n  driver: [\n").expect("writes");
    for (path, prefix) in [
        ("/no/such/file", "Error: while opening config file: "),
        (file.to_str().expect("is text"), "Error: while reading config file: "),
    ] {
        let ran = leasehold(home.path()).args(["server", "--config", path]).output().expect("runs");
        let shown = String::from_utf8(ran.stderr).expect("is text");
        assert_eq!(ran.status.code(), Some(1), "{shown}");
        assert!(shown.starts_with(prefix), "{shown}");
    }
    let ran =
        leasehold(home.path()).env("QUERATOR_CONFIG", "/no/such/file").arg("server").output().expect("runs");
    assert_eq!(ran.status.code(), Some(1), "the variable is read: {ran:?}");
    let ran = leasehold(home.path())
        .env("QUERATOR_ADDRESS", "nowhere")
        .args(["serve", "--store", "memory:"])
        .output()
        .expect("runs");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("cannot listen on nowhere"), "{ran:?}");
}
