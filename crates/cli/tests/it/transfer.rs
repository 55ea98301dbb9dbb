//! `queue move`, `queue redrive` and `queue drain`: what they are told wrongly changes nothing, and what is cut loses nothing.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::{EMPTY_AFTER, Server};

const PATIENT: Duration = Duration::from_secs(60);

fn produce(server: &Server, queue: &str, payloads: impl IntoIterator<Item = usize>) {
    let line = |number| format!("{{\"utf8\":\"{number}\",\"kind\":\"k\",\"reference\":\"r{number}\"}}\n");
    let lines: String = payloads.into_iter().map(line).collect();
    server.feed(&["queue", "produce", queue, "--file", "-"], lines.as_bytes()).ok();
}

fn payload(item: &Value) -> usize {
    use base64::Engine as _;
    let text = item["bytes"].as_str().or(item["payload"].as_str()).expect("has a payload");
    let bytes = base64::prelude::BASE64_STANDARD.decode(text).expect("is base64");
    String::from_utf8(bytes).expect("is text").parse().expect("is a number")
}

fn listed(server: &Server, queue: &str) -> Vec<Value> {
    server.json(&["items", "list", queue])["items"].as_array().cloned().unwrap_or_default()
}

fn drained(server: &Server, queue: &str) -> Vec<usize> {
    let ran = server.run(&["queue", "drain", queue, "--timeout", EMPTY_AFTER]).ok();
    ran.lines().iter().map(payload).collect()
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENT, "not in a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A queue whose items are in its dead queue.
fn dead(server: &Server, count: usize) {
    server.json(&["queue", "create", "orders-dead"]);
    server.json(&["queue", "create", "orders", "--dead-queue", "orders-dead"]);
    produce(server, "orders", 0..count);
    let leased = server.json(&["queue", "lease", "orders", "-b", &count.to_string()]);
    for item in leased["items"].as_array().expect("has items") {
        server.json(&["queue", "retry", "orders", item["id"].as_str().expect("is text"), "--dead"]);
    }
    until("all are dead", || listed(server, "orders-dead").len() == count);
}

#[test]
fn redrive_gives_dead_items_another_chance_with_all_they_have() {
    let server = Server::start();
    dead(&server, 5);
    let first = server.json(&["queue", "redrive", "orders-dead", "orders", "--limit", "2"]);
    assert_eq!(first, json!({"moved": 2}));
    assert_eq!(listed(&server, "orders-dead").len(), 3);
    let rest = server.run(&["queue", "redrive", "orders-dead", "orders", "--timeout", EMPTY_AFTER]).ok();
    assert_eq!(rest.out, "moved 3 item(s) from orders-dead to orders\n");
    assert!(listed(&server, "orders-dead").is_empty());
    let back = listed(&server, "orders");
    assert_eq!(back.iter().map(payload).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for item in &back {
        let told = (&item["kind"], &item["reference"], &item["attempts"]);
        assert_eq!(told, (&json!("k"), &json!(format!("r{}", payload(item))), &Value::Null));
    }
    let nothing = server.json(&["queue", "redrive", "orders-dead", "orders", "--timeout", EMPTY_AFTER]);
    assert_eq!(nothing, json!({"moved": 0}));
}

#[test]
fn wrong_queues_are_told_on_one_line_and_no_attempt_is_spent() {
    let server = Server::start();
    dead(&server, 3);
    server.json(&["queue", "create", "other"]);
    produce(&server, "orders", [7]);
    for (arguments, told) in [
        (&["queue", "move", "orders-dead", "orders-dead"][..], "same queue"),
        (&["queue", "move", "orders-dead", "nowhere"], "no such queue named 'nowhere'"),
        (&["queue", "move", "nowhere", "orders"], "no such queue named 'nowhere'"),
        (&["queue", "move", "orders-dead", "a b"], "'a b'"),
        (&["queue", "move", "orders-dead", "orders", "-b", "0"], "must be greater than zero"),
        (&["queue", "move", "orders-dead", "orders", "--timeout", "1ms"], "minimum timeout"),
        (&["queue", "redrive", "orders-dead", "orders-dead"], "same queue"),
        (&["queue", "redrive", "orders-dead", "nowhere"], "no such queue named 'nowhere'"),
        (&["queue", "redrive", "nowhere", "orders"], "that is 'orders-dead'"),
        // The wrong way round: live items would go where the dead are.
        (&["queue", "redrive", "orders", "orders-dead"], "it has none"),
        (&["queue", "redrive", "orders-dead", "other"], "leasehold queue move orders-dead other"),
        (&["queue", "drain", "nowhere"], "no such queue named 'nowhere'"),
        (&["queue", "drain", "orders", "-b", "1001"], "max_lease_batch_size"),
        (&["queue", "drain", "orders", "-b", "70000"], "70000"),
        (&["queue", "move", "orders-dead"], "<DESTINATION>"),
        (
            &["queue", "redrive", "orders-dead", "orders", "--endpoint", "http://127.0.0.1:1"],
            "leasehold serve",
        ),
    ] {
        let ran = server.run(arguments);
        let code = if arguments.contains(&"--endpoint") { 4 } else { 2 };
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{arguments:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.err.contains(told), "{arguments:?}: {}", ran.err);
    }
    for (queue, count) in [("orders-dead", 3), ("orders", 1), ("other", 0)] {
        let kept = listed(&server, queue);
        assert_eq!(kept.len(), count, "{queue}: {kept:?}");
        for item in kept {
            assert_eq!((&item["attempts"], &item["is_leased"]), (&Value::Null, &Value::Null), "{item}");
        }
    }
}

#[test]
fn move_that_is_killed_loses_nothing_and_goes_on_when_it_is_run_again() {
    const COUNT: usize = 400;
    let server = Server::start();
    server.json(&["queue", "create", "from", "--lease-timeout", "3s"]);
    server.json(&["queue", "create", "to"]);
    produce(&server, "from", 0..COUNT);
    let stored = |queue: &str| {
        let stats = server.json(&["queue", "stats", queue]);
        stats["logicalQueues"][0]["partitions"][0]["total"].as_u64().unwrap_or_default()
    };
    for killed_at in [10, 60, 120] {
        let mut running =
            server.command(&["queue", "move", "from", "to", "-b", "3"]).spawn().expect("starts");
        until("some have arrived", || stored("to") >= killed_at);
        running.kill().expect("is killed");
        running.wait().expect("ends");
    }
    // What the killed ones had leased is ready again after three seconds.
    until("all are moved", || {
        server.run(&["queue", "move", "from", "to"]);
        stored("from") == 0
    });
    let arrived = drained(&server, "to");
    assert_eq!(arrived.into_iter().collect::<BTreeSet<_>>(), (0..COUNT).collect(), "nothing is lost");
}

#[test]
fn drain_that_is_killed_has_printed_what_is_gone_and_the_rest_comes_again() {
    const COUNT: usize = 60;
    let server = Server::start();
    server.json(&["queue", "create", "orders", "--lease-timeout", "3s"]);
    produce(&server, "orders", 0..COUNT);
    let mut running = server
        .command(&["queue", "drain", "orders", "-b", "4"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
    let mut printed: Vec<String> = lines.by_ref().take(10).map(|line| line.expect("is text")).collect();
    running.kill().expect("is killed");
    running.wait().expect("ends");
    printed.extend(lines.map_while(Result::ok));
    let read = |line: &String| payload(&serde_json::from_str(line).expect("each line is whole"));
    let mut seen: BTreeSet<usize> = printed.iter().map(read).collect();
    until("all are drained", || {
        seen.extend(server.run(&["queue", "drain", "orders"]).lines().iter().map(payload));
        listed(&server, "orders").is_empty()
    });
    assert_eq!(seen, (0..COUNT).collect(), "nothing is gone that was not printed");
}

/// Cut before its items are completed, a redrive has produced them: they are in both queues.
#[tokio::test(flavor = "multi_thread")]
async fn redrive_that_is_cut_before_it_completes_loses_nothing() {
    use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

    let server = Server::start();
    dead(&server, 9);
    server.json(&["queue", "update", "orders-dead", "--lease-timeout", "3s"]);
    let address = server.endpoint.strip_prefix("http://").expect("is one").parse().expect("is an address");
    let proxy = FaultProxy::start(address).await.expect("starts");
    let cut = proxy.add(Rule::on(Trigger::Request(b"queue.complete".to_vec())).then(Action::Cut));
    let endpoint = format!("http://{}", proxy.address());
    let ran = server.run(&["queue", "redrive", "orders-dead", "orders", "-b", "3", "--endpoint", &endpoint]);
    cut.fired().await;
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("the last 3 are in both queues"), "{}", ran.err);
    until("all are redriven", || {
        server.run(&["queue", "redrive", "orders-dead", "orders"]);
        listed(&server, "orders-dead").is_empty()
    });
    let back = drained(&server, "orders");
    assert_eq!(back.iter().copied().collect::<BTreeSet<_>>(), (0..9).collect(), "nothing is lost");
    assert!(back.len() >= 12, "and what was in both came twice: {back:?}");
}

#[test]
fn queue_that_nobody_can_look_into_is_not_taken_for_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.yaml");
    let start = |place: &str| {
        let records = folder.path().join("records");
        let text = format!(
            "queue-storage:\n  driver: embedded\n  config:\n    storage-dir: {}\npartition-storage:\n  - name: place\n    {place}\n",
            records.display()
        );
        std::fs::write(&file, text).expect("writes");
        Server::start_with(&["--config", file.to_str().expect("is text")])
    };
    let server = start("driver: memory");
    server.json(&["queue", "create", "orders-dead"]);
    server.json(&["queue", "create", "orders", "--dead-queue", "orders-dead"]);
    assert!(drained(&server, "orders-dead").is_empty(), "as everybody knows");
    drop(server);
    // Port 1 of loopback: nobody listens there.
    let nowhere = "postgres://app@127.0.0.1:1/app?connect_timeout=1";
    let server = start(&format!("driver: postgres\n    config:\n      connection-string: {nowhere}"));
    for arguments in [
        &["queue", "drain", "orders-dead"][..],
        &["queue", "move", "orders-dead", "orders"],
        &["queue", "redrive", "orders-dead", "orders"],
        &["queue", "lease", "orders-dead"],
    ] {
        let ran = server.run(&[arguments, &["--timeout", "1s"]].concat());
        assert_eq!(ran.code, 4, "{arguments:?}: {ran:?}");
        assert!(ran.err.contains("no partition can be looked into"), "{arguments:?}: {ran:?}");
    }
}
