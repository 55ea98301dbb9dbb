//! The supervisor of a command under a lock, as `lock run` sees it: a process of its own that outlives a killed `lock run` for as
//! long as the command takes to end.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::order::Order;
use crate::failure::Failure;

/// Ends the command once the pipe of its orders closes. No other process has that pipe, so it closes when we end, whatever ends us.
pub(super) struct Supervisor {
    process: Child,
    orders: pipe::Sender,
    group: Option<Pid>,
}

impl Supervisor {
    /// Ready before the command starts: no instant is left in which the command runs and only `lock run` can end it.
    ///
    /// With `is_grouped` it holds a process group open for the command.
    pub(super) async fn start(is_grouped: bool, grace: Duration, order: Order) -> Result<Self, Failure> {
        let mut command = this_program().map_err(Failure::supervisor)?;
        command.args(["lock", "supervise", "--grace", &format!("{}ms", grace.as_millis())]);
        if is_grouped {
            command.arg("--group");
        }
        // In a group of its own: what a terminal or a shell sends to ours must not end both of us.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(Failure::supervisor)?;
        let (stdin, stdout) = (process.stdin.take().expect("piped"), process.stdout.take().expect("piped"));
        let orders =
            stdin.into_owned_fd().and_then(pipe::Sender::from_owned_fd).map_err(Failure::supervisor)?;
        orders.writable().await.map_err(Failure::supervisor)?;
        let mut supervisor = Supervisor { process, orders, group: None };
        supervisor.tell(order);
        let mut ready = String::new();
        let mut stdout = BufReader::new(stdout);
        let read = tokio::time::timeout(order.term_in(), stdout.read_line(&mut ready)).await;
        let read = read.unwrap_or_else(|late| Err(late.into()));
        match read.and_then(|_| ready.trim_end().parse().map_err(|_| ended())) {
            Ok(group) => {
                supervisor.group = Pid::from_raw(group);
                Ok(supervisor)
            }
            Err(error) => {
                supervisor.dismiss().await;
                Err(Failure::supervisor(error))
            }
        }
    }

    /// The group that the command has to join.
    pub(super) fn group(&self) -> Option<Pid> {
        self.group
    }

    /// Never waits: a supervisor that is stopped goes by an earlier order, which is due sooner.
    pub(super) fn tell(&self, order: Order) {
        let _ = self.orders.try_write(format!("{}\n", order.to_line()).as_bytes());
    }

    /// Ready when it has ended, which it does not before the command.
    pub(super) async fn ended(&mut self) -> Failure {
        let _ = self.process.wait().await;
        Failure::supervisor(ended())
    }

    /// There is no command any more.
    pub(super) async fn dismiss(mut self) {
        let _ = self.process.kill().await;
    }
}

fn ended() -> std::io::Error {
    std::io::Error::other("it has ended before the command")
}

/// The program that runs now, also if its file was replaced since it was started.
pub(super) fn this_program() -> std::io::Result<Command> {
    let running = Path::new("/proc/self/exe");
    if !running.exists() {
        return Ok(Command::new(std::env::current_exe()?));
    }
    let mut command = Command::new(running);
    command.arg0("leasehold");
    Ok(command)
}
