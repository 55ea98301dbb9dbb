//! The command that runs under a lock, and what it has started.
//!
//! Without a terminal the command has a process group of its own: what it started is in it, and is stopped with it. At a
//! terminal it stays in the group that the shell has put in front, or Ctrl-C, Ctrl-Z and reading would not work; there
//! only the command itself is told.

use std::io::IsTerminal;
use std::process::ExitStatus;
use std::time::Duration;

use leasehold_core::Fence;
use rustix::process::{Pid, Signal};
use tokio::process::Command;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use super::members::Members;
use crate::failure::Failure;

pub(super) struct Child {
    process: tokio::process::Child,
    id: Pid,
    members: Members,
    /// Signals to us that are meant for the command.
    forwarded: Vec<(Signal, Signals)>,
}

impl Child {
    /// Whether a command that starts now gets a process group of its own.
    pub(super) fn is_grouped() -> bool {
        !std::io::stdin().is_terminal()
    }

    pub(super) fn start(command: &[String], fence: Fence, group: Option<Pid>) -> Result<Self, Failure> {
        let (program, arguments) = command.split_first().expect("clap requires a command");
        let forwarded = forwarded(group.is_some()).map_err(Failure::runtime)?;
        let mut command = Command::new(program);
        command.args(arguments).env("LEASEHOLD_FENCE", fence.to_string()).kill_on_drop(true);
        if let Some(group) = group {
            command.process_group(group.as_raw_pid());
        }
        let process = command.spawn().map_err(|error| Failure::command(program, error))?;
        let id = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.expect("it was not waited for");
        Ok(Child { process, id, members: group.map_or(Members::Command(id), Members::Group), forwarded })
    }

    pub(super) fn id(&self) -> Pid {
        self.id
    }

    /// Passes signals on until the command ends.
    pub(super) async fn wait(&mut self) -> Result<ExitStatus, Failure> {
        loop {
            tokio::select! {
                status = self.process.wait() => return status.map_err(Failure::runtime),
                number = next(&mut self.forwarded) => self.tell(number),
            }
        }
    }

    /// SIGTERM, and SIGKILL to what that has not ended in time.
    pub(super) async fn stop_within(&mut self, patience: Duration) -> Result<(), Failure> {
        self.tell(Signal::TERM);
        if tokio::time::timeout(patience, self.gone()).await.is_err() {
            self.tell(Signal::KILL);
        }
        self.process.wait().await.map_err(Failure::runtime)?;
        Ok(())
    }

    /// Once neither the command nor anybody of its group is left.
    async fn gone(&mut self) {
        let _ = self.process.wait().await;
        if let Members::Group(_) = self.members {
            self.members.gone().await;
        }
    }

    /// A command that was waited for needs no signal: its number may be another process's by now.
    fn tell(&self, number: Signal) {
        if matches!(self.members, Members::Group(_)) || self.process.id().is_some() {
            self.members.signal(number);
        }
    }
}

/// A terminal sends Ctrl-C and Ctrl-\ to its whole group: passing them on to somebody in it would send them twice.
fn forwarded(is_grouped: bool) -> std::io::Result<Vec<(Signal, Signals)>> {
    let listened = [
        (Signal::INT, SignalKind::interrupt(), is_grouped),
        (Signal::QUIT, SignalKind::quit(), is_grouped),
        (Signal::TERM, SignalKind::terminate(), true),
        (Signal::HUP, SignalKind::hangup(), true),
        (Signal::USR1, SignalKind::user_defined1(), true),
        (Signal::USR2, SignalKind::user_defined2(), true),
    ];
    let mut forwarded = Vec::new();
    for (number, kind, forward) in listened {
        // Listened to in any case: we outlive the command to release its lock.
        let signals = signal(kind)?;
        if forward {
            forwarded.push((number, signals));
        }
    }
    Ok(forwarded)
}

/// The next signal of any kind.
async fn next(forwarded: &mut [(Signal, Signals)]) -> Signal {
    std::future::poll_fn(|context| {
        let ready = forwarded
            .iter_mut()
            .find_map(|(number, signals)| signals.poll_recv(context).is_ready().then_some(*number));
        ready.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
    })
    .await
}
