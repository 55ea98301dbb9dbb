use std::io::Write;
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

use clap::Args;
use leasehold_core::duration;
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};

use super::members::Members;
use super::order::Order;
use super::supervisor::this_program;
use crate::failure::Failure;
use crate::output::Done;

/// End a command under a lock when the process that holds the lock has ended.
///
/// 'leasehold lock run' starts it and sends its orders to stdin.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Supervise {
    /// Time between SIGTERM and SIGKILL
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse)]
    grace: Duration,

    /// Make a process group for the command
    #[arg(long)]
    group: bool,

    /// Wait for the end of stdin
    #[arg(long)]
    anchor: bool,
}

impl Supervise {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let orders = pipe::Receiver::from_owned_fd(
            std::io::stdin().as_fd().try_clone_to_owned().map_err(Failure::supervisor)?,
        )
        .map_err(Failure::supervisor)?;
        let orders = BufReader::new(orders).lines();
        if self.anchor {
            return until_closed(orders).await;
        }
        let _survived = survived().map_err(Failure::supervisor)?;
        self.supervise(orders).await
    }

    async fn supervise(&self, mut orders: Lines<BufReader<pipe::Receiver>>) -> Result<Done, Failure> {
        // Without one there was nothing to supervise yet.
        let Some(mut order) = next(&mut orders).await else { return Ok(Done::Yes) };
        let mut anchor = self.group.then(Anchor::start).transpose().map_err(Failure::supervisor)?;
        let group = anchor.as_ref().map(|anchor| anchor.group);
        // Without a reader there will be no command, and soon no order.
        let _ = writeln!(std::io::stdout(), "{}", Pid::as_raw(group));
        loop {
            tokio::select! {
                // A newer order comes before the end of an older one.
                biased;
                newer = next(&mut orders) => match newer {
                    Some(newer) => order = newer,
                    None => break,
                },
                // `lock run` is stopped, or the machine was.
                () = tokio::time::sleep(order.term_in()) => break,
            }
            if order.command.is_some()
                && let Some(anchor) = anchor.take()
            {
                anchor.end().await;
            }
        }
        if let Some(anchor) = anchor {
            anchor.end().await;
        }
        if let Some(members) = group.map(Members::Group).or(order.command.map(Members::Command)) {
            members.signal(Signal::TERM);
            // A stopped process gets no other signal but SIGKILL.
            members.signal(Signal::CONT);
            if tokio::time::timeout(order.kill_in(self.grace), members.gone()).await.is_err() {
                members.signal(Signal::KILL);
            }
        }
        Ok(Done::Yes)
    }
}

/// The next order; `None` once the sender has ended.
async fn next(orders: &mut Lines<BufReader<pipe::Receiver>>) -> Option<Order> {
    loop {
        let line = orders.next_line().await.ok()??;
        if let Some(order) = Order::parse(&line) {
            return Some(order);
        }
    }
}

async fn until_closed(mut lines: Lines<BufReader<pipe::Receiver>>) -> Result<Done, Failure> {
    while let Ok(Some(_)) = lines.next_line().await {}
    Ok(Done::Yes)
}

/// Signals that a service manager sends to every process of a service it stops: the command may take its time over them.
fn survived() -> std::io::Result<Vec<Signals>> {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::quit(),
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
    ];
    kinds.into_iter().map(signal).collect()
}

/// A process that holds a group open until the command has joined it. The number of the group is thus known before there is a
/// command.
struct Anchor {
    process: Child,
    group: Pid,
}

impl Anchor {
    fn start() -> std::io::Result<Self> {
        let mut command = this_program()?;
        command.args(["lock", "supervise", "--anchor"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        let id = process.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Anchor { process, group: id.expect("it was not waited for") })
    }

    /// Waits for its end: until then it counts as a member of the group.
    async fn end(mut self) {
        let _ = self.process.kill().await;
    }
}
