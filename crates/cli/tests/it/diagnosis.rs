//! What `leasehold doctor --json` found.

use std::process::Command;

use serde_json::Value;

pub(crate) struct Diagnosis {
    pub(crate) code: i32,
    pub(crate) text: String,
    findings: Vec<Value>,
}

pub(crate) fn diagnose(arguments: &[&str]) -> Diagnosis {
    diagnose_in(arguments, &[])
}

/// With this in its environment.
pub(crate) fn diagnose_in(arguments: &[&str], environment: &[(&str, &str)]) -> Diagnosis {
    let home = tempfile::tempdir().expect("temporary folder");
    let mut command: Command = crate::served::leasehold(home.path());
    command.envs(environment.iter().copied());
    let ran = command.arg("doctor").args(arguments).arg("--json").output().expect("runs");
    let text = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(!text.contains("hunter2"), "{text}");
    let findings = serde_json::from_slice::<Value>(&ran.stdout)
        .ok()
        .and_then(|told| told["findings"].as_array().cloned())
        .unwrap_or_default();
    Diagnosis { code: ran.status.code().expect("ended by itself"), text, findings }
}

impl Diagnosis {
    /// Whether something was found at this level whose message has these words; then what is to be done about it.
    pub(crate) fn find(&self, level: &str, check: &str, words: &str) -> Option<String> {
        let is = |finding: &&Value| {
            finding["level"] == level
                && finding["check"] == check
                && finding["message"].as_str().is_some_and(|message| message.contains(words))
        };
        Some(self.findings.iter().find(is)?["next"].as_str().unwrap_or_default().to_owned())
    }

    pub(crate) fn expect(&self, level: &str, check: &str, words: &str) -> String {
        self.find(level, check, words)
            .unwrap_or_else(|| panic!("no {level} of {check} with '{words}': {}", self.text))
    }

    pub(crate) fn has_only(&self, level: &str) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(|finding| finding["level"] == level)
    }
}
