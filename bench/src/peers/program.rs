//! Programs that are started, and ended if they take too long.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Runs a program to its end; what it printed, or in a line why it failed.
///
/// # Errors
/// It is not installed, failed, or did not end within the limit.
pub async fn output(command: &mut Command, limit: Duration) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{name} is not installed"),
        _ => format!("{name}: {error}"),
    })?;
    let pid = Pid::from_child(&child);
    let mut ending = tokio::task::spawn_blocking(move || child.wait_with_output());
    let ended = match tokio::time::timeout(limit, &mut ending).await {
        Ok(ended) => ended,
        Err(_) => {
            // Fails only if it has ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
            let _ = ending.await;
            return Err(format!("not done within {} s", limit.as_secs()));
        }
    };
    let ended = ended.map_err(|error| error.to_string())?.map_err(|error| format!("{name}: {error}"))?;
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        false => Err(complaint(&String::from_utf8_lossy(&ended.stderr))),
    }
}

/// The line of a complaint that says most, short enough for a table: the last that an exception left, or else the first
/// that a tool printed.
fn complaint(stderr: &str) -> String {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let exception = lines.clone().rfind(|line| line.contains("Error"));
    let first = exception.or_else(|| lines.clone().find(|line| line.contains("error")));
    let line = first.or_else(|| lines.next_back()).unwrap_or("it failed without a word");
    line.replace('|', "/").chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaint_is_the_line_that_names_the_error() {
        let node = "file:///x.mjs:3\n\nError: 3 jobs are left | not 0\n    at x\n\nNode.js v22.1.0\n";
        assert_eq!(complaint(node), "Error: 3 jobs are left / not 0");
        let npm = "npm warn old\nnpm error code ETARGET\nnpm error A complete log is there\n";
        assert_eq!(complaint(npm), "npm error code ETARGET");
        assert_eq!(complaint("one\ntwo\n"), "two");
        assert_eq!(complaint(""), "it failed without a word");
    }

    #[tokio::test]
    async fn program_that_takes_too_long_is_ended() {
        let said = output(Command::new("sleep").arg("600"), Duration::from_millis(20)).await;
        assert_eq!(said, Err("not done within 0 s".to_owned()));
    }

    #[tokio::test]
    async fn missing_program_is_named() {
        let said = output(&mut Command::new("no-such-program"), Duration::from_secs(5)).await;
        assert_eq!(said, Err("no-such-program is not installed".to_owned()));
    }
}
