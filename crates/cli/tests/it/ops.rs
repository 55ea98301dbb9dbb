//! What is under `ops/` names metrics that a server has, with labels that they have, and can be read by what reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::document::{file, text};
use crate::served::Server;

/// A metric in an expression, and the labels it is selected by.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Used {
    name: String,
    labels: Vec<String>,
}

/// Words of the language that stand where a metric could.
const WORDS: [&str; 12] = [
    "and",
    "bool",
    "by",
    "group_left",
    "group_right",
    "ignoring",
    "offset",
    "on",
    "or",
    "unless",
    "without",
    "vector",
];

/// The metrics of a PromQL expression: names that are no functions and no labels of a grouping.
fn metrics(expression: &str) -> Vec<Used> {
    let mut used = Vec::new();
    let mut rest = expression;
    // A list of labels follows these.
    let mut grouping = false;
    while let Some(symbol) = rest.chars().next() {
        if symbol == '"' {
            rest = rest[1..].split_once('"').expect("a quote ends").1;
        } else if symbol == '[' {
            rest = rest.split_once(']').expect("a range ends").1;
        } else if symbol == '(' && grouping {
            grouping = false;
            rest = rest.split_once(')').expect("a list ends").1;
        } else if symbol.is_ascii_alphabetic() || symbol == '_' {
            let len = rest
                .find(|symbol: char| !symbol.is_ascii_alphanumeric() && symbol != '_')
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at(len);
            rest = after;
            if WORDS.contains(&name) {
                grouping = matches!(name, "by" | "without" | "on" | "ignoring");
            } else if !after.trim_start().starts_with('(') && !is_aggregation(after) {
                let (labels, behind) = selector(after);
                used.push(Used { name: name.to_owned(), labels });
                rest = behind;
            }
        } else if symbol.is_ascii_digit() {
            rest = rest.trim_start_matches(|symbol: char| symbol.is_ascii_alphanumeric() || symbol == '.');
        } else {
            rest = &rest[symbol.len_utf8()..];
        }
    }
    used
}

/// `sum by (queue) (…)`.
fn is_aggregation(after: &str) -> bool {
    let after = after.trim_start();
    after.starts_with("by ") || after.starts_with("without ")
}

fn selector(after: &str) -> (Vec<String>, &str) {
    let Some(mut rest) = after.strip_prefix('{') else { return (Vec::new(), after) };
    let mut labels = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(behind) = rest.strip_prefix('}') {
            return (labels, behind);
        }
        let len = rest.find(['=', '!']).expect("a label has a value");
        labels.push(rest[..len].trim().to_owned());
        rest = rest[len..]
            .split_once('"')
            .and_then(|(_, value)| value.split_once('"'))
            .expect("a value is quoted")
            .1;
    }
}

/// Every expression of the dashboard and of the alerts.
fn expressions() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&text("ops/grafana/leasehold.json")).expect("is JSON");
    let panels = dashboard["panels"].as_array().expect("has panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let mut all: Vec<String> =
        targets.map(|target| target["expr"].as_str().expect("has an expression").to_owned()).collect();
    assert!(all.len() > 20, "the dashboard was read: {}", all.len());
    let variables = dashboard["templating"]["list"].as_array().expect("has variables");
    all.extend(variables.iter().filter_map(|variable| {
        let asked = variable["definition"].as_str()?.strip_prefix("label_values(")?;
        Some(asked.rsplit_once(',')?.0.to_owned())
    }));
    let alerts: Value = serde_saphyr::from_str(&text("ops/prometheus/alerts.yaml")).expect("is YAML");
    for rule in alerts["groups"][0]["rules"].as_array().expect("has rules") {
        for needed in ["alert", "expr"] {
            assert!(rule[needed].is_string(), "{rule}");
        }
        assert!(
            rule["annotations"]["summary"].is_string() && rule["annotations"]["next"].is_string(),
            "{rule}"
        );
        assert!(
            ["critical", "warning"].contains(&rule["labels"]["severity"].as_str().unwrap_or_default()),
            "{rule}"
        );
        all.push(rule["expr"].as_str().expect("is text").to_owned());
    }
    all
}

/// Prometheus' own.
const OF_PROMETHEUS: [&str; 1] = ["up"];

/// Labels that Prometheus adds.
const ADDED_LABELS: [&str; 2] = ["instance", "job"];

/// Shown by a server only when something went wrong, or over PostgreSQL: their names are looked for in the code.
const NOT_AT_FIRST: [&str; 10] = [
    "leasehold_queue_store_errors_total",
    "dsql_active_transactions",
    "dsql_condition_failed_total",
    "dsql_retry_attempts_histogram",
    "dsql_unsupported_feature_total",
    "dsql_operation_duration_seconds",
    "dsql_tx_conflicts_total",
    "dsql_tx_retries_total",
    "dsql_errors_total",
    "dsql_unknown_outcome_total",
];

/// Where those names are.
const SOURCES: [&str; 2] = ["crates/txn/src/metrics.rs", "crates/queue/src/partition/timed_store.rs"];

/// What a server shows after some work: names, and their labels.
fn shown() -> BTreeMap<String, BTreeSet<String>> {
    let server = Server::start();
    server.json(&["queue", "create", "orders"]);
    server.json(&["queue", "produce", "orders", "--payload", "x"]);
    server.run(&["queue", "drain", "orders", "--timeout", "1s"]).ok();
    let acquired = server.json(&["lock", "acquire", "billing"]);
    server.json(&["lock", "release", acquired["lockId"].as_str().expect("has an id")]);
    let scraped = server.get("/metrics");
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in scraped.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let Some((name, labels)) = line.split_once('{') else {
            shown.entry(line.split(' ').next().expect("has a name").to_owned()).or_default();
            continue;
        };
        let labels = labels.split('}').next().expect("has labels").split(',');
        let names = labels.filter_map(|label| Some(label.split_once('=')?.0.to_owned()));
        shown.entry(name.to_owned()).or_default().extend(names);
    }
    shown
}

#[test]
fn every_metric_of_the_dashboard_and_the_alerts_is_one_that_a_server_has() {
    let shown = shown();
    let mut named = BTreeSet::new();
    for expression in expressions() {
        let used = metrics(&expression);
        assert!(!used.is_empty(), "{expression}");
        for Used { name, labels } in used {
            named.insert(name.clone());
            if !NOT_AT_FIRST.contains(&name.as_str()) && !OF_PROMETHEUS.contains(&name.as_str()) {
                let has = shown.get(&name).unwrap_or_else(|| panic!("no server shows {name}: {expression}"));
                let lacks = labels
                    .iter()
                    .find(|label| !has.contains(*label) && !ADDED_LABELS.contains(&label.as_str()));
                assert_eq!(lacks, None, "{name} has {has:?}: {expression}");
            }
        }
    }
    for watched in [
        "leasehold_queue_items",
        "http_handler_duration",
        "leasehold_queue_store_seconds",
        "leasehold_queue_wait_seconds_bucket",
        "leasehold_queue_batch_items_sum",
        "leasehold_lock_requests_total",
        "leasehold_lock_wait_seconds_bucket",
        "leasehold_lock_hold_seconds_bucket",
        "leasehold_lock_losses_total",
        "process_resident_memory_bytes",
    ] {
        assert!(named.contains(watched), "{watched}: {named:?}");
    }
}

#[test]
fn every_name_of_what_is_not_shown_at_first_is_one_of_the_code() {
    let source = SOURCES.map(text).concat();
    for name in NOT_AT_FIRST {
        assert!(source.contains(&format!("\"{name}\"")), "{name} is in no code");
    }
    let of_transactions = text("crates/txn/src/metrics.rs");
    let named = of_transactions.split('"').filter(|word| word.starts_with("dsql_"));
    for name in named {
        assert!(NOT_AT_FIRST.contains(&name), "{name} is nowhere looked for");
    }
}

#[test]
fn locks_are_counted_by_backend_and_what_was_lost_is_told_apart() {
    let server = Server::start();
    let acquire = |key: &str, ttl: &str| {
        let acquired = server.json(&["lock", "acquire", key, "--ttl", ttl, "--timeout", "30s"]);
        acquired["lockId"].as_str().expect("has an id").to_owned()
    };
    let billing = acquire("billing", "1m");
    assert_eq!(server.run(&["lock", "acquire", "billing"]).code, 3);
    server.run(&["lock", "release", &billing]).ok();
    assert_eq!(server.run(&["lock", "release", &billing]).code, 3, "is released");
    let (late, gone) = (acquire("late", "1ms"), acquire("gone", "1ms"));
    // Granted as soon as the time of those before has passed.
    acquire("late", "1m");
    acquire("gone", "1m");
    assert_eq!(server.run(&["lock", "release", &late]).code, 3);
    let scraped = server.get("/metrics");
    for line in [
        r#"leasehold_lock_requests_total{backend="memory",operation="release",answer="ok"} 1"#,
        r#"leasehold_lock_requests_total{backend="memory",operation="acquire",answer="ok"} 5"#,
        r#"leasehold_lock_hold_seconds_count{backend="memory",end="released"} 1"#,
        r#"leasehold_lock_hold_seconds_count{backend="memory",end="lost"} 2"#,
        r#"leasehold_lock_held{backend="memory"} 2"#,
    ] {
        assert!(scraped.lines().any(|found| found == line), "{line}: {scraped}");
    }
    // A holder that comes late is counted as such, unless the look at what ran out was first.
    let lost = |reason: &str| {
        let name = format!("leasehold_lock_losses_total{{backend=\"memory\",reason=\"{reason}\"}} ");
        let line = scraped.lines().find_map(|line| line.strip_prefix(name.as_str()));
        line.expect("is shown").parse::<u64>().expect("a number")
    };
    assert!(lost("expired") >= 1 && lost("expired") + lost("refused") == 2, "{scraped}");
    for secret in ["billing", "late", "gone", &billing, &late, &gone] {
        let labels = scraped.lines().filter(|line| line.starts_with("leasehold_lock"));
        assert!(!labels.into_iter().any(|line| line.contains(secret)), "{secret}: {scraped}");
    }
}

#[test]
fn every_metric_that_a_server_shows_is_documented() {
    let guide = text("docs/guide/operations.md");
    let shown = shown();
    for name in shown.keys().map(String::as_str).chain(NOT_AT_FIRST) {
        let part = ["_bucket", "_sum", "_count"].into_iter().find_map(|part| name.strip_suffix(part));
        let family = part.unwrap_or(name);
        assert!(guide.contains(&format!("`{family}`")), "{family} is not in docs/guide/operations.md");
    }
}

#[test]
fn manifests_are_yaml_and_ask_for_no_more_rights_than_needed() {
    for path in ["ops/kubernetes/embedded.yaml", "ops/kubernetes/postgres.yaml"] {
        let documents: Vec<Value> =
            text(path).split("\n---\n").map(|part| serde_saphyr::from_str(part).expect(path)).collect();
        let set = documents.last().expect("has documents");
        let pod = &set["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{path}");
        let container = &pod["containers"][0];
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true, "{path}");
        assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/health", "{path}");
        // Every variable is one that the command line reads, or is used by another.
        let serve = text("crates/cli/src/commands/serve.rs");
        let variables = container["env"].as_array().expect("has variables");
        for variable in variables {
            let name = variable["name"].as_str().expect("has a name");
            assert!(name == "NAMESPACE" || serve.contains(&format!("\"{name}\"")), "{path}: {name}");
        }
        let service = documents.iter().find(|document| document["kind"] == "Service").expect("has a service");
        let allowed = variables.iter().find(|variable| variable["name"] == "LEASEHOLD_ALLOWED_HOSTS");
        let allowed = allowed.and_then(|variable| variable["value"].as_str()).expect("allows names");
        let name = service["metadata"]["name"].as_str().expect("has a name");
        for name in [name.to_owned(), format!("{name}.$(NAMESPACE).svc")] {
            assert!(allowed.split(',').any(|allowed| allowed == name), "{path}: {name}");
        }
    }
    let scrape: Value = serde_saphyr::from_str(&text("ops/prometheus/scrape.yaml")).expect("is YAML");
    assert_eq!(scrape["scrape_configs"][0]["job_name"], "leasehold", "the alerts name it");
    for path in ["ops/docker/Dockerfile", "ops/systemd/leasehold.service"] {
        assert!(fs::metadata(file(path)).expect(path).len() > 0);
    }
    assert!(text("ops/docker/Dockerfile").contains("\nUSER 10001"), "not root");
}

#[test]
fn expressions_are_read() {
    let expression = "sum by (instance, queue) (rate(a_total{queue=~\"x{}|y\",event!=\"b c\"}[5m])) > 0.05 * max(d) \
                      unless on (queue) (e == 0) or vector(0)";
    let names: Vec<String> = metrics(expression).into_iter().map(|used| used.name).collect();
    assert_eq!(names, ["a_total", "d", "e"]);
    assert_eq!(metrics(expression)[0].labels, ["queue", "event"]);
}
