use std::time::Duration;

use clap::Args;
use leasehold_core::{Key, Ttl, duration};
use leasehold_locks::{AcquireOptions, Error, KeepOptions, Loss, Retry};

use super::child::Child;
use super::target::Target;
use crate::failure::Failure;
use crate::output::Done;

/// Run a command while holding a lock.
///
/// The lock is extended while the command runs and released when it ends. If the lock is lost, the command and what it
/// has started are told by SIGTERM, and killed before anybody else can get the lock; at a terminal only the command
/// itself is. LEASEHOLD_FENCE holds the fence: pass it on with every write.
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

/// The part of the ttl before its end at which the command is told to stop: it has most of that time to do so.
const LOST_BEFORE: f64 = 0.4;
/// The part of the ttl that the command has between SIGTERM and SIGKILL. Less than the above: it must be gone before
/// the lock can be somebody else's.
const STOP_WITHIN: f64 = 0.3;

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
        let mut child = match Child::start(&self.command, kept.fence()) {
            Ok(child) => child,
            Err(failure) => {
                kept.dispose().await;
                return Err(failure);
            }
        };
        let ended = tokio::select! {
            status = child.wait() => Done::Child(status?),
            loss = kept.lost() => {
                eprintln!("{}; stopping the command", reason(loss));
                child.stop_within(self.ttl.as_duration().mul_f64(STOP_WITHIN)).await?;
                Done::Lost
            }
        };
        kept.dispose().await;
        Ok(ended)
    }
}

fn reason(loss: Loss) -> &'static str {
    match loss {
        Loss::Refused(_) => "the lock was lost: the store says it has ended",
        Loss::Unconfirmed => "the lock was lost: it could not be extended in time",
        Loss::HoldMax => "the lock was held as long as --hold-max allows",
    }
}
