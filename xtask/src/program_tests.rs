//! Tests that need a program of somebody else's: each is run if what it needs is installed, and named as not run if not.

use crate::installed;

/// A test of the command line's, and the programs it needs.
pub(crate) struct ProgramTest {
    /// What it is called together with others.
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    pub(crate) test: &'static str,
    programs: &'static [&'static str],
}

/// The clients of the quick start.
const fn client(name: &'static str, test: &'static str, programs: &'static [&'static str]) -> ProgramTest {
    ProgramTest { group: "clients", name, target: "foreign_clients", test, programs }
}

/// What is under `ops/`, judged by what reads it.
const fn ops(name: &'static str, test: &'static str, programs: &'static [&'static str]) -> ProgramTest {
    ProgramTest { group: "ops", name, target: "ops_tools", test, programs }
}

pub(crate) const ALL: [ProgramTest; 9] = [
    client("curl", "curl_is_served", &["bash", "curl"]),
    client("python", "python_is_served", &["python3"]),
    client("node", "node_is_served", &["node"]),
    client("go", "go_is_served", &["go"]),
    ops("systemd", "systemd_takes_the_unit", &["systemd-analyze"]),
    ops("promtool check", "promtool_takes_the_rules_and_the_scrape_configuration", &["promtool"]),
    ops("promtool test", "alerts_fire_when_they_should", &["promtool"]),
    ops("hadolint", "hadolint_has_nothing_against_the_image", &["hadolint"]),
    ops("kubernetes", "manifests_have_only_fields_that_kubernetes_knows", &["kubernetes-validate"]),
];

impl ProgramTest {
    /// The first program that is not installed.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        installed::missing(self.programs)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, ProgramTest};
    use crate::source;

    #[test]
    fn every_test_that_is_named_here_exists() {
        for ProgramTest { target, test, .. } in &ALL {
            let path = source::root().join(format!("crates/cli/tests/{target}.rs"));
            assert!(source::text(&path).contains(&format!("fn {test}()")), "{target}: no {test}");
        }
    }
}
