use std::fmt::{self, Write as _};

use serde::Serialize;

use crate::failure::Failure;
use crate::output::Done;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Ok,
    /// It works, and will hurt.
    Warning,
    /// It does not work, or promises are not kept.
    Problem,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) level: Level,
    pub(super) message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

/// All of them, in the order in which they were looked at.
#[derive(Debug, Default, Serialize)]
pub(super) struct Findings {
    findings: Vec<Finding>,
}

impl Findings {
    pub(super) fn ok(&mut self, check: &'static str, message: impl Into<String>) {
        self.findings.push(Finding { check, level: Level::Ok, message: message.into(), next: None });
    }

    pub(super) fn warning(
        &mut self,
        check: &'static str,
        message: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.bad(check, Level::Warning, message.into(), next.into());
    }

    pub(super) fn problem(
        &mut self,
        check: &'static str,
        message: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.bad(check, Level::Problem, message.into(), next.into());
    }

    /// A check that could not be made, with what kept it.
    pub(super) fn failed(
        &mut self,
        check: &'static str,
        failure: impl Into<Failure>,
        next: impl Into<String>,
    ) {
        self.problem(check, failure.into().what(), next);
    }

    fn bad(&mut self, check: &'static str, level: Level, message: String, next: String) {
        self.findings.push(Finding { check, level, message, next: Some(next) });
    }

    fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }

    pub(super) fn done(&self) -> Done {
        match self.findings.iter().map(|finding| finding.level).max() {
            None | Some(Level::Ok) => Done::Yes,
            Some(Level::Warning) => Done::Warnings,
            Some(Level::Problem) => Done::Problems,
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
        for Finding { check, level, message, next } in &self.findings {
            writeln!(out, "{:<7}  {check:<width$}  {}", level.to_string(), visible(message))?;
            if let Some(next) = next {
                writeln!(out, "{:<7}  {:<width$}  → {}", "", "", visible(next))?;
            }
        }
        write!(
            out,
            "{} ok, {} warning(s), {} problem(s)",
            self.count(Level::Ok),
            self.count(Level::Warning),
            self.count(Level::Problem)
        )
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        })
    }
}

/// Names of queues and sessions are others' choice: what would move the cursor is shown, not obeyed.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for symbol in text.chars() {
        match symbol.is_control() {
            true => write!(shown, "{}", symbol.escape_debug()).expect("a string takes everything"),
            false => shown.push(symbol),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_finding_decides_and_each_says_what_to_do() {
        let mut findings = Findings::default();
        findings.ok("a", "is well");
        assert!(matches!(findings.done(), Done::Yes));
        findings.warning("bb", "is\u{1b} slow", "mend it");
        assert!(matches!(findings.done(), Done::Warnings));
        findings.problem("c", "is gone", "make it");
        assert!(matches!(findings.done(), Done::Problems));
        assert_eq!(
            findings.to_string(),
            "ok       a   is well\n\
             warning  bb  is\\u{1b} slow\n             → mend it\n\
             problem  c   is gone\n             → make it\n\
             1 ok, 1 warning(s), 1 problem(s)"
        );
    }
}
