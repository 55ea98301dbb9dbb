//! The process that outlives its owner by just long enough to clean up.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Instant,
};

use crate::{Error, Result, TIME_LIMIT, account::Account, program};

const SCRIPT: &str = include_str!("guardian.sh");
/// What the script waits for a server to end, in its own unit of 10 ms; less than we wait for its answer.
const END_TICKS_MAX: &str = "500";

/// Parent of one server, in a process group of its own so that Ctrl-C in a terminal reaches the test process but
/// not the one that has to clean up after it.
#[derive(Debug)]
pub(crate) struct Guardian {
    server: &'static str,
    folder: PathBuf,
    child: Child,
    commands: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Guardian {
    /// Its error output goes to this file, which is locked: the lock is free once the guardian is gone.
    pub(crate) const LOCK: &'static str = "guardian.log";

    pub(crate) fn new(
        server: &'static str,
        account: &Account,
        folder: PathBuf,
        stop_signal: &'static str,
    ) -> Result<Guardian> {
        let lock_path = folder.join(Self::LOCK);
        let lock = File::create(&lock_path).map_err(Error::folder("make", &lock_path))?;
        lock.lock().map_err(Error::folder("lock", &lock_path))?;
        let mut child = account
            .command("sh")
            .args([
                OsStr::new("-c"),
                OsStr::new(SCRIPT),
                OsStr::new("leasehold-guardian"),
                folder.as_os_str(),
            ])
            .args([stop_signal, END_TICKS_MAX])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(lock)
            .spawn()
            .map_err(Error::folder("start sh as guardian of", &folder))?;
        let commands = child.stdin.take();
        let output = child.stdout.take();
        let (sender, answers) = channel();
        thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()).flatten() {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Guardian { server, folder, child, commands, answers })
    }

    /// Starts the server with a command line of words; a restart may give another. Answers its process id.
    pub(crate) fn start(&mut self, words: &[String]) -> Result<u32> {
        let run = self.folder.join("run");
        let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        std::fs::write(&run, format!("exec {}\n", line.join(" "))).map_err(Error::folder("write", &run))?;
        let answer = self.ask("start")?;
        answer.parse().map_err(|_| self.silent("start"))
    }

    /// Asks the server to end in order; kills it when it does not.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.ask("stop").map(drop)
    }

    /// Kills the server and its children at once.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.ask("kill").map(drop)
    }

    /// Cleans up after a server whose guardian is gone.
    pub(crate) fn clean(account: &Account, folder: &Path) {
        let mut command = account.command("sh");
        command.args([
            OsStr::new("-c"),
            OsStr::new(SCRIPT),
            OsStr::new("leasehold-guardian"),
            folder.as_os_str(),
        ]);
        // No commands will come: the script goes straight to its end.
        let _ = program::run(command.args(["KILL", END_TICKS_MAX]), TIME_LIMIT);
    }

    fn ask(&mut self, command: &'static str) -> Result<String> {
        let sent = self.commands.as_mut().map(|pipe| writeln!(pipe, "{command}"));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.silent(command));
        }
        let answer = self.answers.recv_timeout(TIME_LIMIT).map_err(|_| self.silent(command))?;
        let pid = answer.strip_prefix(command).ok_or_else(|| self.silent(command))?;
        Ok(pid.trim().to_owned())
    }

    fn silent(&self, command: &'static str) -> Error {
        Error::Guardian { server: self.server, command, waited: TIME_LIMIT }
    }
}

impl Drop for Guardian {
    /// Waits for the end, so that a test that is over has left nothing; the guardian finishes by itself if the wait
    /// is too short.
    fn drop(&mut self) {
        self.commands = None;
        let deadline = Instant::now() + TIME_LIMIT;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(program::POLL);
        }
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quoted_word_keeps_quotes_and_blanks() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
