//! `leasehold queue …` and `items …` as scripts use them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::served::{EMPTY_AFTER, Server, leasehold};

fn produce(server: &Server, queue: &str, payloads: impl IntoIterator<Item = usize>) {
    let lines: String =
        payloads.into_iter().map(|number| format!("{{\"utf8\":\"{number}\",\"kind\":\"k\"}}\n")).collect();
    server.feed(&["queue", "produce", queue, "--file", "-"], lines.as_bytes()).ok();
}

fn payloads(lines: &[Value]) -> Vec<usize> {
    use base64::Engine as _;
    let decode = |text: &str| base64::prelude::BASE64_STANDARD.decode(text).expect("is base64");
    let payload = |line: &Value| {
        let text = line["bytes"].as_str().or(line["payload"].as_str()).or(line["item"]["payload"].as_str());
        String::from_utf8(decode(text.expect("has a payload")))
            .expect("is text")
            .parse()
            .expect("is a number")
    };
    lines.iter().map(payload).collect()
}

fn drained(server: &Server, queue: &str) -> Vec<usize> {
    payloads(&server.run(&["queue", "drain", queue, "--timeout", EMPTY_AFTER]).ok().lines())
}

#[test]
fn items_go_through_their_life_by_exit_codes_and_json() {
    let server = Server::start();
    let created = server.json(&["queue", "create", "dead"]);
    assert_eq!(created["expire_timeout"], "1h0m0s");
    server.json(&["queue", "create", "orders", "--dead-queue", "dead", "--lease-timeout", "30s"]);
    assert_eq!(server.json(&["queue", "info", "orders"])["dead_queue"], "dead");
    let listed = server.json(&["queue", "list", "--pivot", "e"]);
    assert_eq!(listed["items"].as_array().expect("is a list").len(), 1);

    assert_eq!(
        server.json(&["queue", "produce", "orders", "--payload", "1", "--kind", "k"]),
        json!({"produced": 1})
    );
    produce(&server, "orders", [2, 3]);
    let leased = server.json(&["queue", "lease", "orders", "-b", "3"]);
    let items = leased["items"].as_array().expect("has items");
    assert_eq!((payloads(items), &items[0]["kind"]), (vec![1, 2, 3], &json!("k")));
    let id = |number: usize| items[number]["id"].as_str().expect("is text");

    let extended = server.json(&["queue", "extend", "orders", id(0), "--lease-timeout", "10m"]);
    assert!(extended["lease_deadline"].as_str() > items[0]["lease_deadline"].as_str(), "{extended}");
    assert_eq!(server.json(&["queue", "complete", "orders", id(0)]), json!({"completed": 1}));
    assert_eq!(server.json(&["queue", "retry", "orders", id(1), "--at", "1h"]), json!({"retried": 1}));
    server.json(&["queue", "retry", "orders", id(2), "--dead"]);
    assert_eq!(drained(&server, "dead"), [3]);
    let scheduled = server.json(&["items", "scheduled", "orders"]);
    assert_eq!(payloads(scheduled["items"].as_array().expect("has items")), [2]);

    let nothing = server.run(&["queue", "lease", "orders", "--timeout", "50ms"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (3, "nothing to lease\n"));
    server.json(&["queue", "clear", "orders", "--scheduled"]);
    let stats = server.json(&["queue", "stats", "orders"]);
    assert_eq!(stats["logicalQueues"][0]["partitions"][0]["scheduled"], Value::Null);
    server.json(&["queue", "reload", "orders"]);
    server.json(&["queue", "update", "orders", "--dead-queue", ""]);
    assert_eq!(server.json(&["queue", "info", "orders"])["dead_queue"], Value::Null);
    server.json(&["queue", "delete", "orders"]);
    assert_eq!(server.run(&["queue", "info", "orders"]).code, 2);
}

#[test]
fn stored_items_are_listed_added_and_deleted() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    produce(&server, "orders", 0..5);
    let listed = server.json(&["items", "list", "orders", "--limit", "3"]);
    let items = listed["items"].as_array().expect("has items");
    assert_eq!(payloads(items), [0, 1, 2]);
    let id = items[1]["id"].as_str().expect("is text");
    server.json(&["items", "delete", "orders", id]);
    let rest = server.json(&["items", "list", "orders", "--pivot", id]);
    assert_eq!(payloads(rest["items"].as_array().expect("has items")), [2, 3, 4]);
    let imported =
        server.feed(&["items", "import", "orders", "--json"], format!("{}\n", items[1]).as_bytes()).ok();
    assert_ne!(imported.json()["items"][0]["id"], id);
    assert_eq!(drained(&server, "orders"), [0, 2, 3, 4, 1]);
    let table = server.run(&["items", "list", "orders"]).ok();
    assert!(table.out.starts_with("ID  ATTEMPTS"), "{table:?}");
}

#[test]
fn lists_longer_than_a_page_are_whole() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    produce(&server, "orders", 0..2_300);
    let listed = server.json(&["items", "list", "orders", "--limit", "5000"]);
    let expected: Vec<usize> = (0..2_300).collect();
    assert_eq!(payloads(listed["items"].as_array().expect("has items")), expected);
}

#[test]
fn bad_input_is_told_on_one_line_and_changes_nothing() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    for (arguments, code, told) in [
        (&["queue", "produce", "nope", "--payload", "x"][..], 2, "leasehold queue create"),
        (&["queue", "create", "a b"], 2, "cannot contain whitespace"),
        (&["queue", "create", "q", "--lease-timeout", "soon"], 2, "soon"),
        (&["queue", "update", "orders"], 2, "nothing to change"),
        (&["queue", "complete", "orders", "not-an-id"], 2, "Valid encoded KSUIDs are 27 characters"),
        (&["queue", "tail", "orders", "--partition", "7"], 2, "no partition 7"),
        (&["queue", "move", "orders", "orders"], 2, "same queue"),
        (&["queue", "import", "orders", "/no/such/file"], 2, "/no/such/file"),
        (&["queue", "list", "--endpoint", "http://127.0.0.1:1"], 4, "leasehold serve"),
        (&["queue", "list", "--profile", "nope"], 2, "'nope'"),
    ] {
        let ran = server.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{arguments:?}: {}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.err.contains(told), "{arguments:?}: {}", ran.err);
    }
    for arguments in [
        &["queue", "lease", "orders", "--timeout", "soon"][..],
        &["queue", "clear", "orders"],
        &["queue", "retry", "orders", "x", "--dead", "--at", "1h"],
        &["queue", "produce", "orders", "--file", "x", "--payload", "y"],
        &["queue", "complete", "orders"],
    ] {
        assert_eq!(server.run(arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(drained(&server, "orders"), [0_usize; 0]);
}

#[test]
fn file_of_items_goes_on_behind_the_line_that_was_wrong() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    let file = server.home().join("items.ndjson");
    let name = file.to_str().expect("is text");
    let lines: Vec<String> = (0..1_500).map(|number| format!("{{\"utf8\":\"{number}\"}}")).collect();
    let mut broken = lines.clone();
    broken[1_200] = "{\"utf8\":".to_owned();
    fs::write(&file, broken.join("\n")).expect("writes");
    let refused = server.run(&["queue", "produce", "orders", "--file", name]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("line 1201") && refused.err.contains("--offset 1000"), "{}", refused.err);
    fs::write(&file, lines.join("\n")).expect("writes");
    let rest = server.json(&["queue", "produce", "orders", "--file", name, "--offset", "1000"]);
    assert_eq!(rest, json!({"produced": 500}));
    assert_eq!(drained(&server, "orders"), (0..1_500).collect::<Vec<_>>());
}

#[test]
fn interrupted_file_of_items_says_where_to_go_on() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    let lines: String = (0..2_500).map(|number| format!("{{\"utf8\":\"{number}\"}}\n")).collect();
    let mut running = server
        .command(&["queue", "produce", "orders", "--file", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = running.stdin.take().expect("piped");
    // Two batches are whole; for the rest of the third it waits.
    input.write_all(lines.as_bytes()).expect("writes");
    let stored =
        || server.json(&["queue", "stats", "orders"])["logicalQueues"][0]["partitions"][0]["total"].clone();
    while stored() != json!(2_000) {
        assert!(running.try_wait().expect("can be asked").is_none(), "it still waits");
    }
    kill_process(Pid::from_child(&running), Signal::INT).expect("is sent");
    let ended = running.wait_with_output().expect("ends");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{told}");
    assert!(told.starts_with("error: interrupted (cli.interrupted)"), "{told}");
    assert!(told.trim_end().ends_with("go on with --offset 2000"), "{told}");
    drop(input);
    let rest =
        server.feed(&["queue", "produce", "orders", "--file", "-", "--offset", "2000"], lines.as_bytes());
    assert_eq!(rest.ok().out, "produced 500 item(s)\n");
    assert_eq!(drained(&server, "orders"), (0..2_500).collect::<Vec<_>>());
}

#[test]
fn export_and_import_keep_items_order_attempts_and_schedule() {
    let server = Server::start();
    server.json(&["queue", "create", "from", "--partitions", "2"]);
    server.json(&["queue", "create", "to", "--partitions", "2"]);
    for batch in 0..4 {
        produce(&server, "from", batch * 300..(batch + 1) * 300);
    }
    server.json(&["queue", "produce", "from", "--payload", "9999", "--enqueue-at", "1h"]);
    let leased = server.json(&["queue", "lease", "from"]);
    let attempted = payloads(leased["items"].as_array().expect("has items"))[0];

    let exported = server.run(&["queue", "export", "from"]).ok();
    assert_eq!(exported.err, "exported 1201 item(s)\n");
    let lines = exported.lines();
    let file = server.home().join("items.ndjson");
    fs::write(&file, &exported.out).expect("writes");
    let name = file.to_str().expect("is text");
    assert_eq!(server.json(&["queue", "import", "to", name]), json!({"imported": 1201}));

    let shape = |lines: &[Value]| -> Vec<(i64, usize, bool)> {
        let partition = |line: &Value| line["partition"].as_i64().unwrap_or_default();
        let of = |line: &Value| {
            (partition(line), payloads(std::slice::from_ref(line))[0], line["item"]["enqueue_at"].is_string())
        };
        // Which partition a scheduled item goes to is the server's choice.
        lines.iter().map(of).filter(|(_, _, scheduled)| !scheduled).collect()
    };
    let again = server.run(&["queue", "export", "to"]).ok().lines();
    assert_eq!(shape(&again), shape(&lines));
    let arrived =
        again.iter().find(|line| payloads(std::slice::from_ref(line))[0] == attempted).expect("arrived");
    assert_eq!((&arrived["item"]["attempts"], &arrived["item"]["is_leased"]), (&json!(1), &Value::Null));
    assert_eq!(again.iter().filter(|line| line["item"]["enqueue_at"].is_string()).count(), 1);

    // The scheduled line would be added again; the others are not.
    let unscheduled: Vec<&str> = exported.out.lines().filter(|line| !line.contains("enqueue_at")).collect();
    fs::write(&file, unscheduled.join("\n")).expect("writes");
    server.json(&["queue", "import", "to", name]);
    server.json(&["queue", "import", "to", name, "--offset", "1000"]);
    assert_eq!(server.run(&["queue", "export", "to"]).ok().lines().len(), 1201);
}

#[test]
fn export_that_was_cut_goes_on_behind_its_last_whole_line() {
    let server = Server::start();
    server.json(&["queue", "create", "orders", "--partitions", "2"]);
    for batch in 0..4 {
        produce(&server, "orders", batch * 300..(batch + 1) * 300);
    }
    server.json(&["queue", "produce", "orders", "--payload", "9999", "--enqueue-at", "1h"]);
    let whole = server.run(&["queue", "export", "orders"]).ok().out;
    let file = server.home().join("items.ndjson");
    let name = file.to_str().expect("is text");
    for kept in [0, 1, 10, whole.len() / 3, whole.len() * 2 / 3, whole.len() - 5, whole.len()] {
        fs::write(&file, &whole[..kept]).expect("writes");
        server.run(&["queue", "export", "orders", "--output", name, "--resume"]).ok();
        assert!(fs::read_to_string(&file).expect("reads") == whole, "after {kept} bytes");
    }
    let tail = server.run(&["queue", "export", "orders", "--offset", "1190"]).ok();
    assert_eq!(tail.out, whole.lines().skip(1190).map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn move_takes_everything_in_order_and_says_how_much() {
    let server = Server::start();
    server.json(&["queue", "create", "from"]);
    server.json(&["queue", "create", "to"]);
    produce(&server, "from", 0..250);
    assert_eq!(
        server.json(&["queue", "move", "from", "to", "--limit", "120", "--timeout", EMPTY_AFTER]),
        json!({"moved": 120})
    );
    let moved = server.run(&["queue", "move", "from", "to", "--timeout", EMPTY_AFTER]).ok();
    assert_eq!(moved.out, "moved 130 item(s) from from to to\n");
    assert_eq!(drained(&server, "to"), (0..250).collect::<Vec<_>>());
    produce(&server, "from", [1]);
    let refused = server.run(&["queue", "move", "from", "nope", "--timeout", "50ms"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let kept = server.json(&["items", "list", "from"]);
    assert_eq!(
        kept["items"][0]["attempts"],
        Value::Null,
        "nothing is leased for a queue that is not there: {kept}"
    );
}

/// Cut between the two queues: what was produced and not completed is in both, and comes again when its lease ends.
#[tokio::test(flavor = "multi_thread")]
async fn move_that_is_cut_before_it_completes_loses_nothing() {
    use leasehold_testkit::proxy::{Action, FaultProxy, Rule, Trigger};

    let server = Server::start();
    server.json(&["queue", "create", "from", "--lease-timeout", "5s"]);
    server.json(&["queue", "create", "to"]);
    produce(&server, "from", 0..30);
    let address = server.endpoint.strip_prefix("http://").expect("is one").parse().expect("is an address");
    let proxy = FaultProxy::start(address).await.expect("starts");
    let cut = proxy.add(Rule::on(Trigger::Request(b"queue.complete".to_vec())).then(Action::Cut));
    let endpoint = format!("http://{}", proxy.address());
    let ran = server.run(&["queue", "move", "from", "to", "-b", "10", "--endpoint", &endpoint]);
    cut.fired().await;
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("the last 10 are in both queues"), "{}", ran.err);

    // The lease that nobody holds any more ends within these twenty seconds.
    server.run(&["queue", "move", "from", "to", "--limit", "30", "--timeout", "20s"]).ok();
    let arrived = drained(&server, "to");
    let distinct: BTreeSet<usize> = arrived.iter().copied().collect();
    assert_eq!(distinct, (0..30).collect(), "nothing is lost");
    assert_eq!(arrived.len(), 40, "and the ten came twice");
}

#[test]
fn reader_that_goes_away_ends_a_drain_before_it_completes() {
    let server = Server::start();
    server.json(&["queue", "create", "orders", "--lease-timeout", "5s"]);
    produce(&server, "orders", 0..5);
    let mut running = server
        .command(&["queue", "drain", "orders", "-b", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(running.stdout.take());
    assert!(running.wait().expect("ends").success());
    let all =
        payloads(&server.run(&["queue", "drain", "orders", "--limit", "5", "--timeout", "20s"]).ok().lines());
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (0..5).collect());
}

#[test]
fn tail_shows_the_last_items_and_then_new_ones_without_leasing() {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    produce(&server, "orders", 0..20);
    let mut running = server
        .command(&["queue", "tail", "orders", "-n", "3", "--limit", "5", "--interval", "10ms", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
    let mut next = || {
        serde_json::from_str::<Value>(&lines.next().expect("one more").expect("is text")).expect("is JSON")
    };
    let last: Vec<Value> = (0..3).map(|_| next()).collect();
    assert_eq!(payloads(&last), [17, 18, 19]);
    produce(&server, "orders", 20..30);
    let new: Vec<Value> = (0..2).map(|_| next()).collect();
    assert_eq!(payloads(&new), [20, 21]);
    assert!(running.wait().expect("ends").success());
    let table = server.run(&["queue", "tail", "orders", "-n", "1", "--no-follow"]).ok();
    assert!(table.out.starts_with("0  ") && table.out.ends_with("k           29\n"), "{table:?}");
    assert_eq!(drained(&server, "orders").len(), 30);
}

#[test]
fn bench_measures_and_cleans_up() {
    let server = Server::start();
    let report = server.json(&["bench", "--duration", "1s", "--clients", "4", "--batch", "5"]);
    let (items, leases) = (report["items"].as_u64().expect("counts"), &report["operations"]["lease"]);
    assert!(items > 0 && leases["p50_micros"].as_u64() <= leases["p99_micros"].as_u64(), "{report}");
    assert_eq!(server.json(&["queue", "list"]), json!({}), "its queue is gone");
    server.json(&["queue", "create", "mine"]);
    let report =
        server.json(&["bench", "--duration", "1s", "--clients", "2", "--mode", "produce", "--queue", "mine"]);
    assert_eq!(report["operations"]["lease"], Value::Null);
    assert!(report["items"].as_u64() > Some(0), "{report}");
    let stats = server.json(&["queue", "stats", "mine"]);
    assert_eq!(
        stats["logicalQueues"][0]["partitions"][0]["total"], report["items"],
        "a queue of yours is kept"
    );
}

#[test]
fn completions_and_manual_pages_are_written() {
    let home = tempfile::tempdir().expect("temporary folder");
    for shell in ["bash", "zsh", "fish"] {
        let script = leasehold(home.path()).args(["completions", shell]).output().expect("runs");
        assert!(String::from_utf8_lossy(&script.stdout).contains("redrive"), "{shell}");
    }
    let page = leasehold(home.path()).arg("man").output().expect("runs");
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH"), "{page:?}");
    let folder = home.path().join("man1");
    let written = leasehold(home.path()).args(["man", "--output"]).arg(&folder).output().expect("runs");
    assert!(written.status.success(), "{written:?}");
    assert!(folder.join("leasehold-queue-move.1").exists());
}

/// Whoever goes on from there without a look might store a batch twice.
#[test]
fn file_whose_answer_is_lost_says_that_its_batch_may_be_stored() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
    let closing = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("is asked");
        let _ = stream.read(&mut [0; 65_536]).expect("a request");
    });
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("items.ndjson");
    fs::write(&file, "{\"utf8\":\"a\"}\n").expect("writes");
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasehold"));
    command.args(["queue", "produce", "orders", "--endpoint", &endpoint, "--file"]).arg(&file);
    let ended = command.output().expect("runs");
    closing.join().expect("no panic");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(5), "{told}");
    let next = "0 item(s) were produced before; go on with --offset 0; the batch behind that may be stored too: look first";
    assert!(told.trim_end().ends_with(next), "{told}");
}
