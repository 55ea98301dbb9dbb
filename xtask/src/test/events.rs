//! What a test program prints: libtest's events as JSON, or its lines where cargo runs it itself.

use std::time::Duration;

use serde_json::Value;

/// A test as a program lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    /// The reason of its `#[ignore]`, if it has one.
    pub(super) ignored: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    Started(String),
    Passed {
        name: String,
        took: Duration,
    },
    Failed {
        name: String,
        took: Duration,
        output: String,
    },
    /// The program ran to its end.
    Closed {
        passed: u64,
        failed: u64,
    },
}

/// The arguments by which a test program prints JSON. Stable libtest takes them only with [`ALLOW`].
pub(super) const AS_JSON: [&str; 4] = ["-Zunstable-options", "--format", "json", "--report-time"];
pub(super) const AS_LIST: [&str; 4] = ["-Zunstable-options", "--format", "json", "--list"];
/// The toolchain is pinned, so the format cannot change unnoticed.
pub(super) const ALLOW: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

pub(super) fn listed(line: &str) -> Option<Listed> {
    let event: Value = serde_json::from_str(line).ok()?;
    if event["event"] != "discovered" {
        return None;
    }
    let name = event["name"].as_str()?.to_owned();
    let reason = || event["ignore_message"].as_str().unwrap_or_default().to_owned();
    Some(Listed { name, ignored: (event["ignore"] == Value::Bool(true)).then(reason) })
}

/// How many tests a program says that it has listed.
pub(super) fn list_end(line: &str) -> Option<usize> {
    let event: Value = serde_json::from_str(line).ok()?;
    let is_end = event["type"] == "suite" && event["event"] == "completed";
    is_end.then(|| event["tests"].as_u64().and_then(|count| usize::try_from(count).ok()))?
}

/// `None` for whatever else a test or a process that it started prints.
pub(super) fn event(line: &str) -> Option<Event> {
    if !line.starts_with('{') {
        return of_text(line);
    }
    let event: Value = serde_json::from_str(line).ok()?;
    let kind = event["event"].as_str()?;
    if event["type"] == "suite" {
        let count = |field: &str| event[field].as_u64().unwrap_or_default();
        let closed = Event::Closed { passed: count("passed"), failed: count("failed") };
        return matches!(kind, "ok" | "failed").then_some(closed);
    }
    let name = event["name"].as_str()?.to_owned();
    let took =
        Duration::try_from_secs_f64(event["exec_time"].as_f64().unwrap_or_default()).unwrap_or_default();
    let said = |field: &str| event[field].as_str().map(str::to_owned);
    match kind {
        "started" => Some(Event::Started(name)),
        "ok" => Some(Event::Passed { name, took }),
        "failed" => {
            let output =
                [said("message"), said("stdout")].into_iter().flatten().collect::<Vec<_>>().join("\n");
            Some(Event::Failed { name, took, output })
        }
        _ => None,
    }
}

/// `test src/lib.rs - config (line 8) - compile ... ok`.
fn of_text(line: &str) -> Option<Event> {
    let (name, outcome) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let (name, took) = (name.to_owned(), Duration::ZERO);
    match outcome {
        "ok" => Some(Event::Passed { name, took }),
        "FAILED" => Some(Event::Failed { name, took, output: String::new() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_tests_are_read() {
        assert_eq!(
            event(r#"{ "type": "test", "event": "started", "name": "a::b" }"#),
            Some(Event::Started("a::b".to_owned()))
        );
        assert_eq!(
            event(r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 0.25 }"#),
            Some(Event::Passed { name: "a".to_owned(), took: Duration::from_millis(250) })
        );
        let failed =
            r#"{ "type": "test", "name": "a", "event": "failed", "exec_time": 1, "stdout": "wanted 1\n" }"#;
        let Some(Event::Failed { output, .. }) = event(failed) else { panic!("{failed}") };
        assert_eq!(output, "wanted 1\n");
    }

    #[test]
    fn only_the_end_of_a_program_closes_it() {
        assert_eq!(event(r#"{ "type": "suite", "event": "started", "test_count": 3 }"#), None);
        assert_eq!(
            event(r#"{ "type": "suite", "event": "failed", "passed": 1, "failed": 2 }"#),
            Some(Event::Closed { passed: 1, failed: 2 })
        );
    }

    #[test]
    fn what_tests_print_is_no_event() {
        for line in ["", "{", "{\"fence\": 3}", "test", "tests ... ok then", "[1,2]", "test x ... maybe"] {
            assert_eq!(event(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_documentation_are_read() {
        let passed = event("test src/lib.rs - config (line 8) - compile ... ok");
        let name = "src/lib.rs - config (line 8) - compile".to_owned();
        assert_eq!(passed, Some(Event::Passed { name, took: Duration::ZERO }));
        assert!(matches!(event("test a ... FAILED"), Some(Event::Failed { .. })));
        assert_eq!(event("test result: ok. 1 passed; 0 failed"), None);
    }

    #[test]
    fn reason_of_an_ignored_test_is_listed() {
        let line = r#"{ "type": "test", "event": "discovered", "name": "a", "ignore": true, "ignore_message": "needs go" }"#;
        assert_eq!(listed(line), Some(Listed { name: "a".to_owned(), ignored: Some("needs go".to_owned()) }));
        assert_eq!(listed(&line.replace("true", "false")).unwrap().ignored, None);
        assert_eq!(listed(r#"{ "type": "suite", "event": "discovery" }"#), None);
        let end = r#"{ "type": "suite", "event": "completed", "tests": 7, "benchmarks": 0, "total": 7, "ignored": 1 }"#;
        assert_eq!((list_end(end), list_end(line)), (Some(7), None));
    }
}
