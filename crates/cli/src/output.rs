//! Data to stdout; what a script learns from the exit code.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

use leasehold_api::lock::LockInfo;
use serde::Serialize;

use crate::failure::Failure;

/// How a command that was answered ended.
#[derive(Debug)]
pub(crate) enum Done {
    /// As asked for.
    Yes,
    /// The answer is no: held by another, nothing to release.
    No,
    /// The command under the lock ended so.
    Child(ExitStatus),
    /// The lock was lost under the command.
    Lost,
    /// All was looked at, and something will hurt.
    Warnings,
    /// All was looked at, and something is wrong.
    Problems,
}

impl From<bool> for Done {
    fn from(yes: bool) -> Self {
        if yes { Done::Yes } else { Done::No }
    }
}

impl Done {
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Done::Yes => ExitCode::SUCCESS,
            Done::No => ExitCode::from(3),
            Done::Lost => ExitCode::from(6),
            Done::Warnings => ExitCode::from(7),
            Done::Problems => ExitCode::from(8),
            Done::Child(status) => {
                let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
                ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
            }
        }
    }
}

/// Prints the answer, for a program or for a person. Whoever closed the pipe does not want it: the exit code still tells what
/// was done. One that cannot be written otherwise is lost, and some are told once, such as an API key.
pub(crate) fn print(
    json: bool,
    answer: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let shown = match json {
        true => serde_json::to_string(answer).expect("answers have only text keys"),
        false => text(),
    };
    written(writeln!(io::stdout(), "{shown}")).map(drop)
}

/// False if the reader has gone, such as `head`: no reason to fail, but to end.
pub(crate) fn written(result: io::Result<()>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::file("stdout", error)),
    }
}

/// How much of a payload a table has room for.
const PAYLOAD_CHARS_MAX: usize = 60;

/// The beginning of a payload as text, or how long it is where it is none.
pub(crate) fn payload(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return format!("({} bytes)", bytes.len()) };
    let mut shown: String = text.chars().take(PAYLOAD_CHARS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(PAYLOAD_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// One line a hold. Keys come last: they are as long as they like.
pub(crate) fn table(locks: &[LockInfo]) -> String {
    let mut lines = vec![format!("{:<15}  {:<13}  {:<24}  KEY", "FENCE", "EXPIRES AT", "LOCK ID")];
    for lock in locks {
        let lock_id = if lock.lock_id.is_empty() { &lock.lock_id_hash } else { &lock.lock_id };
        let key = if lock.key.is_empty() { &lock.key_hash } else { &lock.key };
        lines.push(format!(
            "{}  {:<13}  {lock_id:<24}  {}",
            lock.fence,
            lock.expires_at_ms,
            key.escape_debug()
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_shown_on_one_line_cut_or_counted() {
        assert_eq!(payload(b"a\nb"), "a\\nb");
        assert_eq!(payload(&[0xff, 0xfe]), "(2 bytes)");
        assert_eq!(payload("x".repeat(61).as_bytes()), "x".repeat(60) + "…");
    }
}
