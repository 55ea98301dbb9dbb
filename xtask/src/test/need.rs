//! What tests need beside cargo. A test says it in the reason of its `#[ignore]`, such as
//! `needs PostgreSQL and psql: cargo xtask test clients`; here it is installed, built or found missing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{installed, python, services, temporal};

/// Why a test is ignored by cargo alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    Needs {
        what: String,
        group: String,
    },
    /// Runs for minutes; `what` it needs may be nothing.
    Long {
        what: String,
    },
    /// The half of a test that another test starts as a process.
    StartedByAnother,
}

impl Reason {
    /// # Errors
    /// When the reason names no command that runs the test.
    pub(super) fn parse(reason: &str) -> Result<Self, String> {
        if reason.starts_with("the process that ") {
            return Ok(Reason::StartedByAnother);
        }
        let unknown = || format!("no command runs what is ignored with the reason '{reason}'");
        let (why, command) = reason.split_once(": cargo xtask ").unwrap_or_default();
        match (why.strip_prefix("needs "), command.split_once(' ')) {
            (Some(what), Some(("test", group))) if is_known(what) => {
                Ok(Reason::Needs { what: what.to_owned(), group: group.to_owned() })
            }
            (None, Some(("soak", _))) => {
                let rest = why.strip_prefix("runs for minutes").ok_or_else(unknown)?;
                match rest.strip_prefix(" and needs ") {
                    Some(what) if is_known(what) => Ok(Reason::Long { what: what.to_owned() }),
                    None if rest.is_empty() => Ok(Reason::Long { what: String::new() }),
                    _ => Err(unknown()),
                }
            }
            _ => Err(unknown()),
        }
    }
}

/// What [`meet`] installs or builds.
const PROVIDED: [&str; 9] = [
    "PostgreSQL",
    "Redis",
    "the Firestore emulator",
    "prometheus",
    "promtool",
    "Temporal's SQL tool",
    "Python with pg8000",
    "hadolint",
    "kubernetes-validate",
];
/// Programs that a machine has or lacks.
const PROGRAMS: [&str; 8] = ["bash", "curl", "go", "node", "psql", "python3", "systemd-analyze", "unshare"];

/// Whether each word names something that can be met: a misspelt one would be missing on every machine.
fn is_known(what: &str) -> bool {
    what.split(" and ").all(|word| PROVIDED.contains(&word) || PROGRAMS.contains(&word))
}

/// What a test program has in its environment to find what it needs.
pub(super) type Environment = Vec<(&'static str, OsString)>;

/// Each need is met once.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The program that finds and installs servers.
    services: PathBuf,
    met: BTreeMap<String, Result<Environment, String>>,
}

impl Needs {
    pub(super) fn new(services: PathBuf) -> Self {
        Needs { services, met: BTreeMap::new() }
    }

    /// Meets `what`, words joined by "and": installs what is missing where that is allowed.
    ///
    /// # Errors
    /// Why this machine cannot have it.
    pub(super) fn meet(&mut self, what: &str) -> Result<Environment, String> {
        let mut environment = Environment::new();
        for word in what.split(" and ").filter(|word| !word.is_empty()) {
            let services = &self.services;
            let met = self.met.entry(word.to_owned()).or_insert_with(|| meet(word, services));
            environment.extend(met.clone()?);
        }
        Ok(environment)
    }
}

/// Whether a machine that can install packages can meet it: then CI has no excuse.
pub(super) fn is_installable(what: &str) -> bool {
    what.split(" and ").all(|word| matches!(word, "" | "PostgreSQL" | "Redis"))
}

fn meet(word: &str, services: &Path) -> Result<Environment, String> {
    let servers = |names: &[&str]| {
        names.iter().try_for_each(|name| services::install(services, name)).map(|()| Vec::new())
    };
    match word {
        "PostgreSQL" => servers(&["postgres", "pgbouncer"]),
        "Redis" => servers(&["redis"]),
        "the Firestore emulator" => servers(&["firestore"]),
        "prometheus" | "promtool" => servers(&["prometheus"]),
        "Temporal's SQL tool" => {
            servers(&["postgres"])?;
            Ok(vec![(temporal::TOOL, temporal::tool()?.into())])
        }
        "Python with pg8000" => {
            let python = python::DRIVERS.programs()?.join("python");
            Ok(vec![(python::INTERPRETER, python.into())])
        }
        "hadolint" => from_python(&["hadolint"]),
        "kubernetes-validate" => from_python(&["kubernetes-validate"]),
        "unshare" => programs(&["unshare", "mount", "ip", "ldd"]).and_then(|_| namespaces()),
        program => programs(&[program]),
    }
    .map_err(|reason| reason.trim().to_owned())
}

fn from_python(programs: &[&str]) -> Result<Environment, String> {
    match installed::missing(programs) {
        Some(_) => Ok(vec![("PATH", installed::path_after(&python::OPS.programs()?))]),
        None => Ok(Vec::new()),
    }
}

fn programs(names: &[&str]) -> Result<Environment, String> {
    match installed::missing(names) {
        Some(missing) => Err(format!("{missing} is not installed")),
        None => Ok(Vec::new()),
    }
}

fn namespaces() -> Result<Environment, String> {
    let mut unshare = Command::new("unshare");
    let tried = unshare.args(["--user", "--map-root-user", "--mount", "--net", "true"]).output();
    match tried.is_ok_and(|tried| tried.status.success()) {
        true => Ok(Vec::new()),
        false => Err("user namespaces are forbidden here".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::GROUPS;
    use super::*;
    use crate::source;

    #[test]
    fn reasons_name_needs_and_groups() {
        let needs =
            |what: &str, group: &str| Ok(Reason::Needs { what: what.to_owned(), group: group.to_owned() });
        assert_eq!(Reason::parse("needs Redis: cargo xtask test redis"), needs("Redis", "redis"));
        assert_eq!(
            Reason::parse("needs PostgreSQL and psql: cargo xtask test clients"),
            needs("PostgreSQL and psql", "clients")
        );
        let long = |what: &str| Ok(Reason::Long { what: what.to_owned() });
        assert_eq!(Reason::parse("runs for minutes: cargo xtask soak queue"), long(""));
        assert_eq!(
            Reason::parse("runs for minutes and needs PostgreSQL: cargo xtask soak txn"),
            long("PostgreSQL")
        );
        assert_eq!(Reason::parse("the process that the crash tests kill"), Ok(Reason::StartedByAnother));
        let unknown = [
            "",
            "slow",
            "needs luck",
            "needs luck: cargo xtask test redis",
            "needs PostgreSQL and luck: cargo xtask test postgres",
            "runs for minutes and needs luck: cargo xtask soak queue",
            "is slow: cargo xtask soak queue",
            "flaky: cargo xtask test redis",
        ];
        for lost in unknown {
            assert!(Reason::parse(lost).is_err(), "{lost}");
        }
    }

    #[test]
    fn every_reason_in_the_sources_names_a_group() {
        let mut found = 0;
        for path in source::files(&source::root().join("crates"), &[".rs"]) {
            for after in source::text(&path).split("ignore = \"").skip(1) {
                let reason = after.split('"').next().unwrap_or_default();
                match Reason::parse(reason) {
                    Ok(Reason::Needs { group, .. }) => {
                        assert!(GROUPS.contains(&group.as_str()), "{}: {reason}", source::shown(&path));
                    }
                    Ok(_) => (),
                    Err(error) => panic!("{}: {error}", source::shown(&path)),
                }
                found += 1;
            }
        }
        assert!(found > 400, "only {found} ignored tests were found");
    }

    #[test]
    fn missing_program_is_named() {
        let mut needs = Needs::default();
        assert_eq!(
            needs.meet("bash and no-such-program"),
            Err("no-such-program is not installed".to_owned())
        );
        assert_eq!(needs.meet(""), Ok(Vec::new()));
    }
}
