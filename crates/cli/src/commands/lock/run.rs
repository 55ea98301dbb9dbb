use std::time::Duration;

use clap::Args;
use leasehold_core::{Key, Ttl, duration};
use leasehold_locks::{AcquireOptions, Error, KeepOptions, KeptGuard, Loss, Retry};
use tokio::sync::watch;
use tokio::time::Instant;

use super::child::Child;
use super::order::{self, LOST_BEFORE, Order};
use super::supervisor::Supervisor;
use super::target::Target;
use crate::failure::Failure;
use crate::output::Done;

/// Run a command while holding a lock.
///
/// The lock is extended while the command runs and released when it ends. If the lock is lost, the command and what it
/// has started are told by SIGTERM, and killed before anybody else can get the lock; at a terminal only the command
/// itself is. The same happens if this process is killed, or stopped for longer than the lock lasts. LEASEHOLD_FENCE holds the fence: pass it on with every write.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Run {
    /// What to hold
    #[arg(value_parser = Key::parse)]
    key: Key,

    /// How long the lock outlives a machine that dies
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    ttl: Ttl,

    /// Wait this long for the lock; 0s answers at once
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse)]
    timeout: Duration,

    /// Stop the command after this time, whatever it does
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    hold_max: Option<Duration>,

    #[command(flatten)]
    target: Target,

    /// The command and its arguments
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

const HELP: &str = "\
Exit codes:
  the command's own · 128 + n if a signal ended it · 3 held by another · 4 store unavailable · 5 outcome unknown ·
  6 the lock was lost and the command was stopped · 127 the command cannot be run

Example:
  leasehold lock run nightly-report --ttl 1m -- ./report.sh";

impl Run {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let options = AcquireOptions {
            ttl: self.ttl,
            timeout: self.timeout,
            retry: Retry { retries_max: u32::MAX, ..Retry::default() },
            lock_id: None,
        };
        let guard = match self.target.locks().await?.acquire(&self.key, &options).await {
            Ok(guard) => guard,
            Err(Error::AcquisitionTimeout { .. }) => {
                eprintln!("held by another");
                return Ok(Done::No);
            }
            Err(error) => return Err(error.into()),
        };
        let keep =
            KeepOptions { lost_before: LOST_BEFORE, hold_max: self.hold_max, ..KeepOptions::default() };
        let kept = guard.keep(keep).await?;
        let ended = self.supervised(&kept).await;
        kept.dispose().await;
        ended
    }

    /// Runs the command to its end. It has a supervisor for all that time, which ends it if we no longer can.
    async fn supervised(&self, kept: &KeptGuard) -> Result<Done, Failure> {
        let mut confirmed_at = kept.confirmed_at();
        let grace = order::grace(self.ttl);
        let first = Order::new(None, *confirmed_at.borrow_and_update(), self.ttl);
        let mut supervisor = Supervisor::start(Child::is_grouped(), grace, first).await?;
        let ended = match Child::start(&self.command, kept.fence(), supervisor.group()) {
            Ok(mut child) => self.attended(kept, &mut confirmed_at, &mut child, &mut supervisor).await,
            Err(failure) => Err(failure),
        };
        supervisor.dismiss().await;
        ended
    }

    async fn attended(
        &self,
        kept: &KeptGuard,
        confirmed_at: &mut watch::Receiver<Instant>,
        child: &mut Child,
        supervisor: &mut Supervisor,
    ) -> Result<Done, Failure> {
        let grace = order::grace(self.ttl);
        let command = Some(child.id());
        loop {
            let order = Order::new(command, *confirmed_at.borrow_and_update(), self.ttl);
            supervisor.tell(order);
            tokio::select! {
                biased;
                loss = kept.lost() => {
                    supervisor.tell(order.without_term());
                    eprintln!("{}; stopping the command", reason(loss));
                    child.stop_within(grace).await?;
                    return Ok(Done::Lost);
                }
                status = child.wait() => {
                    let status = status?;
                    if !order.is_due() {
                        return Ok(Done::Child(status));
                    }
                    // We were stopped for longer than the lease, and what the command has started may go on after it.
                    eprintln!("{}; the command was stopped", reason(Loss::Unconfirmed));
                    child.stop_within(order.kill_in(grace)).await?;
                    return Ok(Done::Lost);
                }
                Ok(()) = confirmed_at.changed() => {}
                failure = supervisor.ended() => {
                    eprintln!("the supervisor of the command has ended; stopping the command");
                    child.stop_within(order.kill_in(grace)).await?;
                    return Err(failure);
                }
            }
        }
    }
}

fn reason(loss: Loss) -> &'static str {
    match loss {
        Loss::Refused(_) => "the lock was lost: the store says it has ended",
        Loss::Unconfirmed => "the lock was lost: it could not be extended in time",
        Loss::HoldMax => "the lock was held as long as --hold-max allows",
    }
}
