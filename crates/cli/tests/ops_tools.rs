//! What is under `ops/`, judged by the programs that read it.
//!
//! They are somebody else's, so every test is ignored unless asked for: `cargo xtask test ops` runs those whose program is
//! installed, and names the others. `tests/ops.rs` has what needs none of them.

mod document;

use std::fs;
use std::path::Path;
use std::process::Command;

use document::{file, text};

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

#[test]
#[ignore = "needs kubernetes-validate: cargo xtask test ops"]
fn manifests_have_only_fields_that_kubernetes_knows() {
    for manifest in ["embedded.yaml", "postgres.yaml"] {
        run("kubernetes-validate", &["--strict", manifest], &file("ops/kubernetes"));
    }
}
