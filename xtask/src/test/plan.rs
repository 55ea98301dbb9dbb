//! Which tests of which programs run, with what, and in which order.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::build::{Built, Program};
use super::events::{ALLOW, AS_LIST, Listed, list_end, listed};
use super::need::{Environment, Needs, Reason, is_installable};
use crate::source;

/// Starting a server and talking to it takes a test about so many times as long as one that needs none.
const SERVER_WEIGHT: usize = 8;

/// The tests that the caller asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Groups of tests that need something; empty: all, and those that need nothing.
    pub(crate) groups: Vec<String>,
    /// A part of the test's name.
    pub(crate) filter: Option<String>,
    /// The tests that run for minutes and those of properties, and no others.
    pub(crate) is_long: bool,
}

/// The tests of one program that need the same: one process runs them.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(super) program: Program,
    /// What they need beside cargo, as the command line calls it; empty for nothing.
    pub(super) group: String,
    pub(super) tests: Vec<String>,
    pub(super) environment: Environment,
}

impl Suite {
    /// `locks postgres`, or `locks it` where nothing is needed.
    pub(super) fn label(&self) -> String {
        match self.group.as_str() {
            "" => self.program.label(),
            group => format!("{} {group}", self.program.package),
        }
    }

    /// About how long it takes: the longest start first, so that the run does not end with one of them alone.
    fn weight(&self) -> usize {
        match self.group.as_str() {
            "" => self.tests.len(),
            _ => self.tests.len() * SERVER_WEIGHT,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(super) suites: Vec<Suite>,
    /// By group and reason.
    pub(super) not_run: BTreeMap<(String, String), NotRun>,
    /// Tests that only `cargo xtask soak` runs.
    pub(super) long: u64,
}

/// Tests that cannot run here.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotRun {
    pub(super) tests: u64,
    /// They were asked for by name, or are CI's to run.
    pub(super) is_failure: bool,
}

impl Plan {
    /// # Errors
    /// When a program does not list its tests, or ignores one for a reason that names no command.
    pub(crate) fn make(built: Built, wanted: &Wanted) -> Result<Self, String> {
        let mut plan = Plan::default();
        let mut needs = Needs::new(built.services);
        for program in built.programs {
            plan.add(program, wanted, &mut needs)?;
        }
        let is_selective = wanted.is_long || wanted.filter.is_some() || !wanted.groups.is_empty();
        if is_selective && plan.suites.is_empty() && plan.not_run.is_empty() {
            return Err("no test matches; see `cargo xtask help`".to_owned());
        }
        plan.suites.sort_by_key(|suite| std::cmp::Reverse(suite.weight()));
        Ok(plan)
    }

    fn add(&mut self, program: Program, wanted: &Wanted, needs: &mut Needs) -> Result<(), String> {
        let mut suites: BTreeMap<String, Suite> = BTreeMap::new();
        for Listed { name, ignored } in tests_of(&program)? {
            if wanted.filter.as_ref().is_some_and(|part| !name.contains(part)) {
                continue;
            }
            let at = |error| format!("{} {name}: {error}", program.label());
            let (what, group) =
                match (ignored.as_deref().map(Reason::parse).transpose().map_err(at)?, wanted.is_long) {
                    (None, false) => (String::new(), String::new()),
                    (Some(Reason::Needs { what, group }), false) => (what, group),
                    (Some(Reason::Long { what }), true) => (what, "soak".to_owned()),
                    // With as many cases as the environment asks for.
                    (None, true) if is_property(&name) => (String::new(), "soak".to_owned()),
                    (Some(Reason::Long { .. }), false) => {
                        self.long += 1;
                        continue;
                    }
                    (Some(Reason::StartedByAnother), _) | (None | Some(Reason::Needs { .. }), true) => {
                        continue;
                    }
                };
            if !wanted.groups.is_empty() && !wanted.groups.contains(&group) {
                continue;
            }
            match needs.meet(&what) {
                Ok(environment) => {
                    let suite = suites.entry(group.clone()).or_insert_with(|| Suite {
                        program: program.clone(),
                        group,
                        tests: Vec::new(),
                        environment: Environment::new(),
                    });
                    suite.environment.extend(environment);
                    suite.tests.push(name);
                }
                Err(reason) => {
                    let is_asked_for = wanted.is_long || wanted.groups.contains(&group);
                    let not_run = self.not_run.entry((group, reason)).or_default();
                    not_run.tests += 1;
                    not_run.is_failure |=
                        is_asked_for || (is_installable(&what) && std::env::var_os("CI").is_some());
                }
            }
        }
        self.suites.extend(suites.into_values());
        Ok(())
    }
}

fn is_property(name: &str) -> bool {
    name.split("::").any(|module| module == "properties")
}

fn tests_of(program: &Program) -> Result<Vec<Listed>, String> {
    if program.is_example() {
        let starts_servers = source::text(&program.folder.join("Cargo.toml")).contains("leasehold-throwaway");
        let ignored = starts_servers.then(|| "needs PostgreSQL: cargo xtask test postgres".to_owned());
        return Ok(vec![Listed { name: "main".to_owned(), ignored }]);
    }
    let mut command = Command::new(&program.path);
    command.args(AS_LIST).env(ALLOW.0, ALLOW.1).current_dir(&program.folder).stdin(Stdio::null());
    let cannot = |reason: String| format!("{} does not list its tests: {reason}", program.path.display());
    let output = command.output().map_err(|error| cannot(error.to_string()))?;
    if !output.status.success() {
        return Err(cannot(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let tests: Vec<Listed> = printed.lines().filter_map(listed).collect();
    match printed.lines().find_map(list_end) {
        Some(count) if count == tests.len() => Ok(tests),
        count => Err(cannot(format!("{} were understood of {count:?}", tests.len()))),
    }
}
