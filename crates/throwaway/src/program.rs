//! Runs a helper program (`initdb`, `cp`, `apt-get`) with a limit in time, and looks at processes.

use std::{
    io::ErrorKind,
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use crate::{Error, Result};

/// How often a state that sends no event is looked at again.
pub(crate) const POLL: Duration = Duration::from_millis(5);
/// From the end of a program to the end of its output.
const OUTPUT_LIMIT: Duration = Duration::from_secs(1);
const TAIL_BYTES: usize = 2_000;

/// Runs `command` to its end and gives back what it printed. After `limit` it is killed.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |output: String| Error::Program { program: name.clone(), output };
    let (reader, writer) = std::io::pipe().map_err(|error| failed(error.to_string()))?;
    let twin = writer.try_clone().map_err(|error| failed(error.to_string()))?;
    command.stdin(Stdio::null()).stdout(writer).stderr(twin);
    let deadline = Instant::now() + limit;
    let spawned = loop {
        match command.spawn() {
            // Just written here, and open for writing still in a fork that another thread makes of us.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < deadline => {
                thread::sleep(POLL);
            }
            spawned => break spawned,
        }
    };
    // The command keeps its copies of the pipe's writing end, and the reader below waits for the last to close.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned.map_err(|error| failed(error.to_string()))?;
    let (sender, output) = channel();
    thread::spawn(move || sender.send(std::io::read_to_string(reader).unwrap_or_default()));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("not done within {limit:?}")));
            }
            Err(error) => return Err(failed(error.to_string())),
        }
    };
    // Something it left running may hold the pipe open for ever; what it printed is not worth that wait.
    let output = output.recv_timeout(OUTPUT_LIMIT).unwrap_or_default();
    if status.success() { Ok(output) } else { Err(failed(format!("{status}: {}", tail(&output)))) }
}

/// The end of a log file, for a message.
pub(crate) fn log_tail(path: &Path) -> String {
    std::fs::read(path).map_or_else(
        |error| format!("(no log: {error})"),
        |bytes| tail(&String::from_utf8_lossy(&bytes)).to_owned(),
    )
}

fn tail(text: &str) -> &str {
    let text = text.trim_end();
    let mut from = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// Whether a process still does anything; a zombie does not.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may itself hold spaces and parentheses; the state follows the last one.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::{is_running, run, tail};
    use std::{
        process::Command,
        time::{Duration, Instant},
    };

    #[test]
    fn slow_program_is_killed_at_its_limit() {
        let error = run(Command::new("sleep").arg("20"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("not done within 50ms"), "{error}");
    }

    #[test]
    fn program_that_leaves_another_running_is_not_waited_for() {
        let begun = Instant::now();
        run(Command::new("sh").args(["-c", "sleep 30 &"]), Duration::from_secs(25)).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn failed_program_reports_what_it_printed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo bad >&2; exit 4"]);
        let error = run(&mut command, Duration::from_secs(5)).unwrap_err().to_string();
        assert!(error.contains("exit status: 4") && error.contains("bad"), "{error}");
    }

    #[test]
    fn tail_keeps_whole_characters() {
        let text = "ü".repeat(1_500);
        assert!(tail(&text).chars().all(|c| c == 'ü'));
    }

    #[test]
    fn own_process_is_running_and_an_ended_one_is_not() {
        assert!(is_running(std::process::id()));
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_running(pid));
    }
}
