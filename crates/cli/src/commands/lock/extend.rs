use clap::Args;
use leasehold_api::lock::LockExtendResponse;
use leasehold_core::{LockId, Ttl};
use leasehold_locks::ExtendOutcome;

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Make a hold last longer, counted from now.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes:\n  0 extended · 3 the hold had ended · 4 store unavailable · 5 outcome unknown"
)]
pub(super) struct Extend {
    /// The id that acquire printed
    // One in 64 begins with a hyphen.
    #[arg(value_parser = LockId::parse, allow_hyphen_values = true)]
    lock_id: LockId,

    /// How long it is held from now on
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    ttl: Ttl,

    #[command(flatten)]
    target: Target,
}

impl Extend {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let response = match self.target.locks().await?.extend(&self.lock_id, self.ttl).await? {
            ExtendOutcome::Extended { expires_at } => {
                LockExtendResponse { ok: true, reason: String::new(), expires_at_ms: expires_at.as_millis() }
            }
            ExtendOutcome::Refused(refusal) => {
                LockExtendResponse { reason: refusal.to_string(), ..LockExtendResponse::default() }
            }
        };
        print(self.target.json, &response, || match response.ok {
            true => format!("extended\nexpires at  {} ms", response.expires_at_ms),
            false => format!("not extended: {}", response.reason),
        })?;
        Ok(Done::from(response.ok))
    }
}
