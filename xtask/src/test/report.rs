//! What a run of tests came to: counted by group, with every failure and the command that repeats it at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::plan::{NotRun, Suite};
use crate::Outcome;

/// How many lines of what one failed test says are repeated from its beginning and from its end: a panic stands at either.
const KEPT_LINES: usize = 60;
/// The group of the tests that need nothing.
const PLAIN: &str = "workspace";

/// What tests did.
#[derive(Debug, Default)]
pub(crate) struct Report {
    groups: BTreeMap<String, Counts>,
    failures: Vec<Failure>,
    times: Vec<(Duration, String)>,
    pub(super) not_run: BTreeMap<(String, String), NotRun>,
    pub(super) long: u64,
    pub(super) longest_pause: Duration,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
}

/// What failed, what it said, and what repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    what: String,
    said: String,
    repeat: String,
}

impl Failure {
    pub(super) fn of_test(suite: &Suite, name: &str, output: &str) -> Self {
        Failure { what: format!("{} {name}", suite.label()), said: cut(output), repeat: repeat(suite, name) }
    }

    /// A program that did not run all its tests to their end.
    pub(super) fn of_program(suite: &Suite, how: &str, running: &BTreeSet<String>, stderr: &str) -> Self {
        let running = match running.is_empty() {
            true => String::new(),
            false => format!(" while these ran: {}", running.iter().cloned().collect::<Vec<_>>().join(", ")),
        };
        let said = cut(&format!("the program {how}{running}\n{stderr}"));
        Failure { what: suite.label(), said, repeat: repeat(suite, "") }
    }

    pub(super) fn of_cargo(what: &str, said: String, repeat: String) -> Self {
        Failure { what: what.to_owned(), said: cut(&said), repeat }
    }
}

fn repeat(suite: &Suite, name: &str) -> String {
    let mut command = format!("cargo xtask test {}", suite.program.package);
    if suite.group == "soak" {
        command = format!("cargo xtask soak {}", suite.program.package);
    } else if !suite.group.is_empty() {
        command += &format!(" {}", suite.group);
    }
    match name {
        "" => command,
        name => format!("{command} -- {name}"),
    }
}

fn cut(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if lines.len() > 2 * KEPT_LINES {
        let left_out = format!("({} lines left out)", lines.len() - 2 * KEPT_LINES);
        lines.splice(KEPT_LINES..lines.len() - KEPT_LINES, [left_out.as_str()]);
        return lines.join("\n");
    }
    lines.join("\n")
}

impl Report {
    pub(super) fn passed(&mut self, suite: &Suite, name: String, took: Duration) {
        self.counts(&suite.group).passed += 1;
        self.times.push((took, format!("{} {name}", suite.label())));
    }

    pub(super) fn failed(&mut self, suite: &Suite, failure: Failure, name: String, took: Duration) {
        self.times.push((took, format!("{} {name}", suite.label())));
        self.add_failure(&suite.group, failure);
    }

    /// Counts as one failure, whatever the program left undone.
    pub(super) fn crashed(&mut self, suite: &Suite, failure: Failure) {
        self.add_failure(&suite.group, failure);
    }

    pub(super) fn count_passed(&mut self, group: &str) {
        self.counts(group).passed += 1;
    }

    pub(super) fn add_failure(&mut self, group: &str, failure: Failure) {
        self.counts(group).failed += 1;
        self.failures.push(failure);
    }

    fn counts(&mut self, group: &str) -> &mut Counts {
        let group = if group.is_empty() { PLAIN } else { group };
        self.groups.entry(group.to_owned()).or_default()
    }

    /// The run as a page: each test with its time, then what failed.
    pub(crate) fn as_document(&self, how: &str) -> String {
        let mut text = format!("# Soak\n\n{how}\n\n| test | took |\n| --- | --- |\n");
        for (took, test) in &self.times {
            text += &format!("| {test} | {} s |\n", took.as_secs());
        }
        for ((group, reason), not_run) in &self.not_run {
            text += &format!("\n{} test(s) of {group} did not run: {reason}\n", not_run.tests);
        }
        for failure in &self.failures {
            text += &format!("\n## Failed: {}\n\n```text\n{}\n```\n", failure.what, failure.said);
        }
        text
    }

    /// Prints the summary, with the `slowest` tests.
    ///
    /// # Errors
    /// When a test failed, or one that must run could not.
    pub(crate) fn close(mut self, slowest: usize) -> Outcome {
        self.times.sort_by(|one, other| other.cmp(one));
        for (took, test) in self.times.iter().take(slowest) {
            println!("{:>7.1} s  {test}", took.as_secs_f64());
        }
        println!("\n== summary");
        for (group, counts) in &self.groups {
            println!("{group:<14} {} passed, {} failed", counts.passed, counts.failed);
        }
        let mut must_run = Vec::new();
        for ((group, reason), not_run) in &self.not_run {
            println!("{group:<14} {} not run: {reason}", not_run.tests);
            if not_run.is_failure {
                must_run
                    .push(format!("{} test(s) of {group} must run here and cannot: {reason}", not_run.tests));
            }
        }
        if self.long > 0 {
            println!("{:<14} {} run for minutes: cargo xtask soak", "soak", self.long);
        }
        for failure in &self.failures {
            println!("\n== failed: {}\n{}\nrepeat: {}", failure.what, failure.said, failure.repeat);
        }
        let passed: u64 = self.groups.values().map(|counts| counts.passed).sum();
        let failed: u64 = self.groups.values().map(|counts| counts.failed).sum();
        let skipped: u64 = self.not_run.values().map(|not_run| not_run.tests).sum();
        println!("\nthe longest pause of the machine was {:?}", self.longest_pause);
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        match (failed, must_run.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(must_run.join("; ")),
            (failed, _) => Err(format!("{failed} test(s) failed")),
        }
    }
}
