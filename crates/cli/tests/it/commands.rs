//! Every command that there is, found by walking the help of the binary: it says what it does, takes `--json` if it prints
//! anything, and prints JSON then.

use std::collections::BTreeSet;
use std::fs;

use crate::served::{Ran, Server, leasehold};

/// What a command is called, without `leasehold`.
type Path = Vec<String>;

/// Those that print what somebody else defined: Querator, a shell, a reader of manuals, whoever reads logs, the command
/// under a lock.
const NO_JSON: [&str; 13] = [
    "serve",
    "server",
    "version",
    "produce",
    "lease",
    "complete",
    "create",
    "list",
    "update",
    "delete",
    "completions",
    "man",
    "dsql-sim",
];

/// Those that look at tables which only a database has: `postgres.rs` runs them.
const ON_DATABASES: [&str; 6] =
    ["schema apply", "schema check", "state shards", "state execution", "state task-queues", "state queues"];

/// What somebody else's command prints under a lock is no answer of ours.
const RUNS_ANOTHER: &str = "lock run";

fn help(path: &Path) -> String {
    let home = tempfile::tempdir().expect("temporary folder");
    let ran = Ran::from(leasehold(home.path()).args(path).arg("-h").output().expect("runs"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{path:?}");
    ran.out
}

/// The lines under a heading.
fn section<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    lines.take_while(|line| line.starts_with(' ')).collect()
}

/// All commands, and their help.
fn commands() -> Vec<(Path, String)> {
    let mut found = Vec::new();
    let mut to_walk = vec![Path::new()];
    while let Some(path) = to_walk.pop() {
        let help = help(&path);
        for line in section(&help, "Commands:") {
            let (name, about) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            assert!(!about.trim().is_empty(), "{path:?} does not say what {name} is");
            if name != "help" {
                to_walk.push([path.as_slice(), &[name.to_owned()]].concat());
            }
        }
        found.push((path, help));
    }
    found
}

/// What a person can run.
fn runnable() -> Vec<(String, String)> {
    let is_group =
        |help: &str| help.lines().any(|line| line.starts_with("Usage:") && line.ends_with(" <COMMAND>"));
    let found = commands().into_iter().filter(|(_, help)| !is_group(help));
    found.map(|(path, help)| (path.join(" "), help)).collect()
}

#[test]
fn every_command_and_every_option_says_what_it_is() {
    let found = commands();
    assert!(found.len() > 60, "the walk ends too early: {}", found.len());
    for (path, help) in found {
        let about = help.lines().next().unwrap_or_default();
        assert!(about.len() >= 8 && !about.starts_with("Usage:"), "{path:?}: {help}");
        let lines: Vec<&str> = help.lines().collect();
        for (line, below) in lines.iter().zip(lines[1..].iter().chain([&""])) {
            if !line.starts_with("  ") || !line.trim().starts_with(['-', '<']) {
                continue;
            }
            // Behind it, or below it where there is no room.
            let behind = line.trim().split_once("  ").map(|(_, text)| text.trim());
            let text = behind.unwrap_or_else(|| below.trim());
            assert!(!text.is_empty() && !text.starts_with('-'), "{path:?} does not say what it is: {line}");
        }
    }
}

#[test]
fn every_command_that_prints_takes_json() {
    let found = runnable();
    for (command, help) in &found {
        let takes = help.contains(" --json ");
        assert_eq!(takes, !NO_JSON.contains(&command.as_str()), "{command}: {help}");
    }
    let names: BTreeSet<&str> = found.iter().map(|(command, _)| command.as_str()).collect();
    for command in NO_JSON.iter().chain(&ON_DATABASES).chain([&RUNS_ANOTHER]) {
        assert!(names.contains(command), "there is no '{command}'");
    }
}

/// Runs commands, and remembers which.
struct Runner {
    server: Server,
    ran: BTreeSet<String>,
}

impl Runner {
    fn note(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        self.ran.insert(words[0].to_owned());
        self.ran.insert(words[..2.min(words.len())].join(" "));
    }

    /// One value of JSON.
    fn json(&mut self, line: &str) -> serde_json::Value {
        self.note(line);
        self.server.json(&line.split(' ').collect::<Vec<_>>())
    }

    /// A line of JSON an item, so many of them.
    fn lines(&mut self, line: &str, expected: usize) {
        self.note(line);
        let ran = self.server.run(&[&line.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat()).ok();
        assert_eq!(ran.lines().len(), expected, "{line}: {ran:?}");
    }

    /// One value of JSON, however the command ends.
    fn told(&mut self, line: &str, codes: &[i32]) {
        self.note(line);
        let ran = self.server.run(&[&line.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat());
        assert!(codes.contains(&ran.code), "{line}: {ran:?}");
        ran.json();
    }
}

#[test]
fn every_command_that_takes_json_prints_json() {
    let mut run = Runner { server: Server::start(), ran: BTreeSet::new() };
    let home = run.server.home().to_str().expect("is text").to_owned();
    let text = |value: &serde_json::Value| value.as_str().expect("is text").to_owned();

    run.json("queue create dead");
    run.json("queue create orders --dead-queue dead");
    run.json("queue list");
    run.json("queue info orders");
    run.json("queue update orders --max-attempts 9");
    run.json("queue reload orders");
    run.json("queue produce orders --payload 1");
    run.json("queue produce orders --payload 2");
    run.json("queue stats orders");
    let leased = run.json("queue lease orders --batch-size 2");
    let ids: Vec<String> =
        leased["items"].as_array().expect("has items").iter().map(|item| text(&item["id"])).collect();
    run.json(&format!("queue extend orders {}", ids[0]));
    run.json(&format!("queue retry orders {} --dead", ids[0]));
    run.json(&format!("queue complete orders {}", ids[1]));
    run.told("queue lease orders --timeout 50ms", &[3]);
    run.json("queue redrive dead orders --limit 1");
    run.json("queue move orders dead --limit 1");
    run.lines("queue tail dead --no-follow", 1);
    run.lines("queue export dead", 1);
    run.lines(&format!("queue export dead --output {home}/items.ndjson"), 0);
    run.json(&format!("queue import orders {home}/items.ndjson"));
    run.lines("queue drain orders --limit 1", 1);
    let listed = run.json("items list dead");
    run.json("items scheduled dead");
    fs::write(format!("{home}/item.ndjson"), format!("{}\n", listed["items"][0])).expect("writes");
    run.json(&format!("items import orders {home}/item.ndjson"));
    run.json(&format!("items delete dead {}", text(&listed["items"][0]["id"])));
    run.json("queue clear dead --ready");
    run.json("queue delete dead");

    run.json("namespace create team");
    run.json("namespace update team --description x");
    run.json("namespace list");
    let user = text(&run.json("user create somebody")["id"]);
    run.json("user list");
    let key = text(&run.json(&format!("apikey create {user}"))["id"]);
    run.json("apikey list");
    run.json(&format!("apikey delete {key}"));
    run.json("role create readers --namespace team --permission queue.list");
    run.json("role update readers --namespace team --permission queue.stats");
    run.json("role list --namespace team");
    run.json(&format!("binding create readers {user} --namespace team"));
    run.json("binding list --namespace team");
    run.json(&format!("binding delete readers {user} --namespace team"));
    run.json("role delete readers --namespace team");
    run.json(&format!("user delete {user}"));
    run.json("namespace delete team");

    let lock = text(&run.json("lock acquire billing")["lockId"]);
    run.told("lock acquire billing", &[3]);
    run.json(&format!("lock extend {lock}"));
    run.told("lock status billing", &[0, 3]);
    run.json("lock lookup billing");
    run.json("lock list");
    run.json(&format!("lock release {lock}"));
    run.told(&format!("lock release {lock}"), &[3]);
    run.told("lock lookup billing", &[3]);

    run.json("health");
    run.json("bench --duration 50ms --clients 2");
    run.lines("top --once --interval 100ms", 1);
    run.told("doctor", &[0, 7, 8]);
    fs::write(format!("{home}/server.yaml"), "store: \"memory:\"\n").expect("writes");
    run.json(&format!("config check {home}/server.yaml"));
    drop(leasehold_embedded::Store::open(format!("{home}/store")).expect("makes a store"));
    run.json(&format!("access recover --store {home}/store"));
    run.json("schema print");
    run.json("schema print --face state");
    run.json("schema fence-guard");
    run.json("dsql-sim rules");
    fs::write(format!("{home}/fine.sql"), "SELECT 1;\n").expect("writes");
    run.json(&format!("dsql-lint {home}/fine.sql"));

    let not_here = NO_JSON.iter().chain(&ON_DATABASES).chain([&RUNS_ANOTHER]);
    let not_here: BTreeSet<&str> = not_here.copied().collect();
    let forgotten: Vec<String> = runnable()
        .into_iter()
        .map(|(command, _)| command)
        .filter(|command| !run.ran.contains(command) && !not_here.contains(command.as_str()))
        .collect();
    assert!(forgotten.is_empty(), "never run: {forgotten:?}");
}
