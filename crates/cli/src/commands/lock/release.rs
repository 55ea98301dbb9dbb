use clap::Args;
use leasehold_api::lock::LockReleaseResponse;
use leasehold_core::LockId;
use leasehold_locks::ReleaseOutcome;

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};

/// End a hold.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0 released · 3 there was nothing to release · 4 store unavailable · 5 outcome unknown"
)]
pub(super) struct Release {
    /// The id that acquire printed
    // One in 64 begins with a hyphen.
    #[arg(value_parser = LockId::parse, allow_hyphen_values = true)]
    lock_id: LockId,

    #[command(flatten)]
    target: Target,
}

impl Release {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let response = match self.target.locks().await?.release(&self.lock_id).await? {
            ReleaseOutcome::Released => LockReleaseResponse { ok: true, reason: String::new() },
            ReleaseOutcome::Refused(refusal) => {
                LockReleaseResponse { ok: false, reason: refusal.to_string() }
            }
        };
        print(self.target.json, &response, || match response.ok {
            true => "released".to_owned(),
            false => format!("not released: {}", response.reason),
        })?;
        Ok(Done::from(response.ok))
    }
}
