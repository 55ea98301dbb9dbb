//! Tests that need a program of somebody else's: each is run if what it needs is installed or can be, and named as not
//! run if not.

use std::process::Command;

use crate::backend::Backend;
use crate::{installed, python, services};

/// A test, and what it needs.
pub(crate) struct ProgramTest {
    /// What it is called together with others.
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    /// The folder of its crate.
    folder: &'static str,
    target: &'static str,
    test: &'static str,
    needs: &'static [Need],
}

#[derive(Clone, Copy)]
enum Need {
    Program(&'static str),
    /// Brings its programs with it where it has to be installed.
    Postgres,
    Prometheus,
    PythonDriver,
    /// A program that comes from Python's packages.
    PythonProgram(&'static str),
    /// Users and mounts of one's own, which some machines forbid.
    Namespaces,
}

use Need::{Namespaces, Postgres, Program, Prometheus, PythonDriver, PythonProgram};

/// The clients of the quick start.
const fn client(name: &'static str, test: &'static str, needs: &'static [Need]) -> ProgramTest {
    ProgramTest { group: "clients", name, folder: "cli", target: "foreign_clients", test, needs }
}

/// Clients of others at the DSQL simulator.
const fn dsql_client(name: &'static str, test: &'static str, needs: &'static [Need]) -> ProgramTest {
    ProgramTest { group: "clients", name, folder: "dsql-sim", target: "foreign_clients", test, needs }
}

/// What is under `ops/`, judged by what reads it.
const fn ops(name: &'static str, test: &'static str, needs: &'static [Need]) -> ProgramTest {
    ProgramTest { group: "ops", name, folder: "cli", target: "ops_tools", test, needs }
}

pub(crate) const ALL: [ProgramTest; 13] = [
    client("curl", "curl_is_served", &[Program("bash"), Program("curl")]),
    client("python", "python_is_served", &[Program("python3")]),
    client("node", "node_is_served", &[Program("node")]),
    client("go", "go_is_served", &[Program("go")]),
    dsql_client("psql", "psql_runs_a_transaction", &[Postgres, Program("psql")]),
    dsql_client("pg8000", "python_driver_loses_at_commit", &[Postgres, PythonDriver]),
    ops("systemd", "systemd_takes_the_unit", &[Program("systemd-analyze")]),
    ops("promtool check", "promtool_takes_the_rules_and_the_scrape_configuration", &[Prometheus]),
    ops("promtool test", "alerts_fire_when_they_should", &[Prometheus]),
    ops("prometheus", "prometheus_has_something_for_every_panel_and_judges_every_rule", &[Prometheus]),
    ops("hadolint", "hadolint_has_nothing_against_the_image", &[PythonProgram("hadolint")]),
    ops(
        "image",
        "image_serves_as_its_user_on_a_read_only_root",
        &[Program("unshare"), Program("mount"), Program("ip"), Program("ldd"), Namespaces],
    ),
    ops(
        "kubernetes",
        "manifests_have_only_fields_that_kubernetes_knows",
        &[PythonProgram("kubernetes-validate")],
    ),
];

impl ProgramTest {
    /// Adds what selects the test and what it has to know to `command`, which runs tests.
    ///
    /// # Errors
    /// The first thing that it needs and cannot have.
    pub(crate) fn prepare(&self, command: &mut Command) -> Result<(), String> {
        for need in self.needs {
            match need {
                Program(program) => {
                    if let Some(missing) = installed::missing(&[program]) {
                        return Err(format!("{missing} is not installed"));
                    }
                }
                Postgres => Backend::named("postgres").expect("it is one of them").prepare()?,
                Namespaces => {
                    let mut unshare = Command::new("unshare");
                    let tried =
                        unshare.args(["--user", "--map-root-user", "--mount", "--net", "true"]).output();
                    if !tried.is_ok_and(|tried| tried.status.success()) {
                        return Err("namespaces of users are forbidden here".to_owned());
                    }
                }
                Prometheus => services::install("prometheus")?,
                PythonDriver => {
                    command.env(python::INTERPRETER, python::DRIVERS.programs()?.join("python"));
                }
                PythonProgram(program) => {
                    if installed::missing(&[program]).is_some() {
                        command.env("PATH", installed::path_after(&python::OPS.programs()?));
                    }
                }
            }
        }
        command.args(["--package", &format!("leasehold-{}", self.folder), "--test", self.target]);
        command.args(["--no-fail-fast", "--", "--ignored", "--exact", self.test]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, ProgramTest};
    use crate::source;

    #[test]
    fn every_test_that_is_named_here_exists() {
        for ProgramTest { folder, target, test, .. } in &ALL {
            let path = source::root().join(format!("crates/{folder}/tests/{target}.rs"));
            assert!(source::text(&path).contains(&format!("fn {test}()")), "{folder} {target}: no {test}");
        }
    }

    #[test]
    fn every_test_that_sends_its_reader_here_is_named() {
        let mut found = 0;
        for path in source::files(&source::root().join("crates"), &[".rs"]) {
            let text = source::text(&path);
            for group in ["clients", "ops"] {
                for after in text.split(&format!(": cargo xtask test {group}\"]")).skip(1) {
                    let name = after
                        .split_once("fn ")
                        .and_then(|(_, rest)| rest.split_once('('))
                        .map(|(name, _)| name);
                    let is_named = ALL.iter().any(|test| test.group == group && Some(test.test) == name);
                    assert!(is_named, "{}: {name:?} is run by nobody", source::shown(&path));
                    found += 1;
                }
            }
        }
        assert_eq!(found, ALL.len());
    }
}
