//! The command that runs under a lock.

use std::io::IsTerminal;
use std::process::ExitStatus;
use std::time::Duration;

use leasehold_core::Fence;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use crate::failure::Failure;

pub(super) struct Child {
    process: tokio::process::Child,
    /// Signals to us that are meant for the command.
    forwarded: Vec<(Signal, Signals)>,
}

impl Child {
    pub(super) fn start(command: &[String], fence: Fence) -> Result<Self, Failure> {
        let (program, arguments) = command.split_first().expect("clap requires a command");
        let forwarded = forwarded().map_err(Failure::runtime)?;
        let process = Command::new(program)
            .args(arguments)
            .env("LEASEHOLD_FENCE", fence.to_string())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::command(program, error))?;
        Ok(Child { process, forwarded })
    }

    /// Passes signals on until the command ends.
    pub(super) async fn wait(&mut self) -> Result<ExitStatus, Failure> {
        loop {
            tokio::select! {
                status = self.process.wait() => return status.map_err(Failure::runtime),
                number = next(&mut self.forwarded) => signal_process(&self.process, number),
            }
        }
    }

    /// SIGTERM, and SIGKILL when that has not ended it in time.
    pub(super) async fn stop_within(&mut self, patience: Duration) -> Result<(), Failure> {
        signal_process(&self.process, Signal::TERM);
        if tokio::time::timeout(patience, self.process.wait()).await.is_err() {
            self.process.kill().await.map_err(Failure::runtime)?;
        }
        Ok(())
    }
}

/// A command that has just ended needs no signal.
fn signal_process(process: &tokio::process::Child, number: Signal) {
    let pid = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        let _ = kill_process(pid, number);
    }
}

/// A terminal sends Ctrl-C and Ctrl-\ to the command itself: passing them on would send them twice.
fn forwarded() -> std::io::Result<Vec<(Signal, Signals)>> {
    let from_terminal = std::io::stdin().is_terminal();
    let listened = [
        (Signal::INT, SignalKind::interrupt(), !from_terminal),
        (Signal::QUIT, SignalKind::quit(), !from_terminal),
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
