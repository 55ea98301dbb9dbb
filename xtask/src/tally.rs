//! Counting what the test runner says, while showing it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Numbers of tests, added up over many runs of the test runner.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Adds up one closing line, such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn read_line(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else { return };
        let count = |word: &str| {
            let before = counts.split(word).next()?;
            before.trim_end().rsplit(' ').next()?.parse::<u64>().ok()
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
    }
}

/// Runs the test runner, showing its output as it comes. A runner that fails without a failed test (it did not
/// build, it crashed) counts as one failure.
pub(crate) fn run(command: &mut Command) -> Result<Tally, String> {
    let cannot = |error: std::io::Error| format!("cannot run the tests: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let mut tally = Tally::default();
    let output = child.stdout.take().expect("stdout is piped");
    for line in BufReader::new(output).lines() {
        let line = line.map_err(cannot)?;
        println!("{line}");
        tally.read_line(&line);
    }
    let status = child.wait().map_err(cannot)?;
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_add_up() {
        let mut tally = Tally::default();
        tally.read_line("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        tally.read_line("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read_line("test a_test_result: ok. 9 passed");
        assert_eq!(tally, Tally { passed: 5, failed: 4 });
    }
}
