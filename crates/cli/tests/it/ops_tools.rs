//! What is under `ops/`, judged by the programs that read it.
//!
//! They are somebody else's, so every test is ignored unless asked for: `cargo xtask test ops` runs those whose program is
//! installed, and names the others. `ops.rs` has what needs none of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::document::{file, text};
use crate::image::Image;
use crate::monitored::{Prometheus, Work, until};
use crate::served::Server;

/// Must succeed; what it printed.
fn run(program: &str, arguments: &[&str], folder: &Path) -> String {
    let ran = Command::new(program).args(arguments).current_dir(folder).output();
    let ran = ran.unwrap_or_else(|error| panic!("{program}: {error}"));
    let said = [ran.stdout, ran.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(ran.status.success(), "{program} {arguments:?}: {}\n{said}", ran.status);
    said
}

#[test]
#[ignore = "needs systemd-analyze: cargo xtask test ops"]
fn systemd_takes_the_unit() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let unit = text("ops/systemd/leasehold.service");
    // It looks whether the program is there: this build's is.
    let installed = "/usr/local/bin/leasehold";
    assert!(unit.contains(installed));
    let here = unit.replace(installed, env!("CARGO_BIN_EXE_leasehold"));
    fs::write(folder.path().join("leasehold.service"), &here).expect("writes");
    let said = run("systemd-analyze", &["verify", "--man=no", "./leasehold.service"], folder.path());
    assert_eq!(said, "", "nothing to complain of");

    // The same check finds what is wrong.
    let broken = here.replace("RestartSec=1\n", "RestartSeconds=1\n");
    assert_ne!(broken, here);
    fs::write(folder.path().join("leasehold.service"), broken).expect("writes");
    let said = run("systemd-analyze", &["verify", "--man=no", "./leasehold.service"], folder.path());
    assert!(said.contains("RestartSeconds"), "{said}");
}

#[test]
#[ignore = "needs promtool: cargo xtask test ops"]
fn promtool_takes_the_rules_and_the_scrape_configuration() {
    let folder = file("ops/prometheus");
    let rules = text("ops/prometheus/alerts.yaml").matches("- alert:").count();
    let said = run("promtool", &["check", "rules", "alerts.yaml"], &folder);
    assert!(said.contains(&format!("SUCCESS: {rules} rules found")), "{said}");
    run("promtool", &["check", "config", "scrape.yaml"], &folder);
}

#[test]
#[ignore = "needs promtool: cargo xtask test ops"]
fn alerts_fire_when_they_should() {
    run("promtool", &["test", "rules", "alerts_test.yaml"], &file("ops/prometheus"));
}

#[test]
#[ignore = "needs hadolint: cargo xtask test ops"]
fn hadolint_has_nothing_against_the_image() {
    // Versions of Debian's packages go away with each point release: pinned, the image could not be built again.
    let arguments = ["--failure-threshold", "info", "--ignore", "DL3008", "ops/docker/Dockerfile"];
    assert_eq!(run("hadolint", &arguments, &file(".")), "");
}

/// In namespaces of its own, so that it needs no rights and nobody's port.
#[test]
#[ignore = "needs unshare: cargo xtask test ops"]
fn image_serves_as_its_user_on_a_read_only_root() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let image = Image::read();
    assert_ne!(image.user.split(':').next(), Some("0"));
    image.make(folder.path(), Path::new(env!("CARGO_BIN_EXE_leasehold")));
    let arguments = ["--user", "--map-root-user", "--mount", "--net", "sh", "-c", &image.script()];
    let said = run("unshare", &arguments, folder.path());
    assert!(said.contains("produced 1 item(s)") && said.contains("it ended well"), "{said}");
    assert!(said.contains("CapEff:\t0000000000000000"), "it has no rights: {said}");
    let kept = fs::read_dir(folder.path().join("data")).expect("lists").count();
    assert!(kept > 0, "its data is in the volume, {}", image.folder);
}

#[test]
#[ignore = "needs kubernetes-validate: cargo xtask test ops"]
fn manifests_have_only_fields_that_kubernetes_knows() {
    for manifest in ["embedded.yaml", "postgres.yaml"] {
        run("kubernetes-validate", &["--strict", manifest], &file("ops/kubernetes"));
    }
}

/// Panels that are empty over memory while nothing is wrong, and why.
const EMPTY_PANELS: [(&str, &str); 5] = [
    ("Failures in a row, by partition", "shows partitions that fail"),
    ("Calls of the store that failed", "counts failures of the store"),
    ("PostgreSQL: transactions under way", "is about PostgreSQL"),
    ("PostgreSQL: duration, p99", "is about PostgreSQL"),
    ("PostgreSQL: conflicts, retries, errors", "is about PostgreSQL"),
];

/// The expressions of each panel, by its title, as for all servers and queues.
fn panels() -> BTreeMap<String, Vec<String>> {
    let dashboard: Value = serde_json::from_str(&text("ops/grafana/leasehold.json")).expect("is JSON");
    let mut panels: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for panel in dashboard["panels"].as_array().expect("has panels") {
        let title = panel["title"].as_str().expect("has a title").to_owned();
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().expect("has an expression");
            let all = ["$instance", "$queue"]
                .iter()
                .fold(expression.to_owned(), |expression, variable| expression.replace(variable, ".+"));
            panels.entry(title.clone()).or_default().push(all.replace("$__rate_interval", "1m"));
        }
    }
    panels
}

#[test]
#[ignore = "needs prometheus: cargo xtask test ops"]
fn prometheus_has_something_for_every_panel_and_judges_every_rule() {
    let server = Server::start();
    let work = Work::on(&server);
    let prometheus = Prometheus::over(&server);
    let panels = panels();
    for (title, _) in EMPTY_PANELS {
        assert!(panels.contains_key(title), "there is no panel '{title}'");
    }
    for (title, expressions) in &panels {
        for expression in expressions {
            let mut found = prometheus.query(expression).unwrap_or_else(|error| panic!("{title}: {error}"));
            let empty = EMPTY_PANELS.iter().find(|(known, _)| known == title);
            match empty {
                Some((_, reason)) => assert!(found.is_empty(), "{title} {reason}: {found:?}"),
                None => until(&format!("{title} has something: {expression}"), || {
                    found = prometheus.query(expression).expect("it was one before");
                    !found.is_empty()
                }),
            }
        }
    }
    let rules = prometheus.rules();
    assert_eq!(rules.len(), text("ops/prometheus/alerts.yaml").matches("- alert:").count());
    for rule in rules {
        assert_eq!(rule["health"], "ok", "{rule}");
    }
    prometheus.query("sum(").expect_err("what is no expression is told");
    drop(work);
}
