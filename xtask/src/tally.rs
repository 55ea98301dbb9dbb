//! Counting what the test runner says, while showing it, and keeping what it says of failures for the end.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// How much of what one failed test program says is repeated: enough for what was expected and what came.
const KEPT_LINES: usize = 120;

/// Numbers of tests, added up over many runs of the test runner.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// What failed tests said, program by program. Thousands of lines may follow it, so it is said again at the end.
    pub(crate) failures: Vec<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.failures.extend(other.failures);
    }
}

/// Reads the runner's lines one after the other.
#[derive(Default)]
struct Reader {
    tally: Tally,
    /// The lines since `failures:`, if the program being read has any.
    failures: Option<Vec<String>>,
}

impl Reader {
    fn read_line(&mut self, line: &str) {
        match line.strip_prefix("test result: ") {
            Some(counts) => self.close_program(counts),
            None if line == "failures:" => self.failures = Some(self.failures.take().unwrap_or_default()),
            None => self.keep(line),
        }
    }

    /// Adds up one closing line, such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn close_program(&mut self, counts: &str) {
        let count = |word: &str| {
            let before = counts.split(word).next()?;
            before.trim_end().rsplit(' ').next()?.parse::<u64>().ok()
        };
        self.tally.passed += count("passed").unwrap_or(0);
        self.tally.failed += count("failed").unwrap_or(0);
        self.tally.failures.extend(self.failures.take().map(|lines| lines.join("\n")));
    }

    fn keep(&mut self, line: &str) {
        let Some(lines) = &mut self.failures else { return };
        match lines.len() {
            0..KEPT_LINES if !line.is_empty() => lines.push(line.to_owned()),
            KEPT_LINES => lines.push("(more above)".to_owned()),
            _ => (),
        }
    }
}

/// Runs the test runner, showing its output as it comes. A runner that fails without a failed test (it did not
/// build, it crashed) counts as one failure.
pub(crate) fn run(command: &mut Command) -> Result<Tally, String> {
    let cannot = |error: std::io::Error| format!("cannot run the tests: {error}");
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(cannot)?;
    let mut reader = Reader::default();
    let output = child.stdout.take().expect("stdout is piped");
    for line in BufReader::new(output).lines() {
        let line = line.map_err(cannot)?;
        println!("{line}");
        reader.read_line(&line);
    }
    let mut tally = reader.tally;
    let status = child.wait().map_err(cannot)?;
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
        tally.failures.push(format!(
            "the runner itself failed ({status}): it did not build, or a test program crashed"
        ));
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Tally {
        let mut reader = Reader::default();
        lines.lines().for_each(|line| reader.read_line(line));
        reader.tally
    }

    #[test]
    fn closing_lines_add_up() {
        let tally = read(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
             test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out\n\
             test a_test_result: ok. 9 passed",
        );
        assert_eq!((tally.passed, tally.failed), (5, 4));
    }

    #[test]
    fn what_failed_tests_say_is_kept_and_what_passed_is_not() {
        let tally = read(
            "test good ... ok\ntest bad ... FAILED\n\nfailures:\n\n---- bad stdout ----\nwanted 1, found 2\n\n\
             failures:\n    bad\n\ntest result: FAILED. 1 passed; 1 failed\n\
             running 1 test\ntest other ... ok\ntest result: ok. 1 passed; 0 failed",
        );
        assert_eq!(tally.failures, ["---- bad stdout ----\nwanted 1, found 2\n    bad"]);
    }

    #[test]
    fn endless_talk_of_a_failure_is_cut() {
        let talk = "line\n".repeat(10 * KEPT_LINES);
        let tally = read(&format!("failures:\n{talk}test result: FAILED. 0 passed; 1 failed"));
        assert_eq!(tally.failures[0].lines().count(), KEPT_LINES + 1);
        assert!(tally.failures[0].ends_with("(more above)"));
    }
}
