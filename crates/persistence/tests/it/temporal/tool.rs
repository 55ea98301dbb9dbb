//! Temporal's SQL tool, built by `cargo xtask test temporal`.

use std::process::Command;

use leasehold_testkit::postgres::{Cluster, Database};

/// Where the tool is.
const TOOL: &str = "LEASEHOLD_TEMPORAL_SQL_TOOL";

/// Runs it on a database of the shared server.
pub(crate) fn run(database: &Database, words: &[&str]) {
    let tool =
        std::env::var_os(TOOL).unwrap_or_else(|| panic!("{TOOL} is set by: cargo xtask test temporal"));
    let address = Cluster::shared().address();
    let ran = Command::new(tool)
        .args(["--plugin", "postgres12", "--user", Cluster::shared().user(), "--database", database.name()])
        .args(["--endpoint", &address.ip().to_string(), "--port", &address.port().to_string()])
        .args(words)
        .output()
        .expect("the tool runs");
    let told = String::from_utf8_lossy(&ran.stderr) + String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{words:?}: {told}");
}
