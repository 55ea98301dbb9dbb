use std::time::Duration;

use clap::Args;
use leasehold_api::lock::LockAcquireResponse;
use leasehold_core::{Key, LockId, Ttl, duration};
use leasehold_locks::{AcquireOptions, Error, Retry};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Acquire a lock and print it. It stays held until it is released or its ttl has passed.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Acquire {
    /// What to hold
    #[arg(value_parser = Key::parse)]
    key: Key,

    /// How long it is held unless extended
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    ttl: Ttl,

    /// Keep trying this long; 0s answers at once
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse)]
    timeout: Duration,

    /// An id of your own, so that the command can be repeated after an unknown outcome
    #[arg(long, value_parser = LockId::parse, allow_hyphen_values = true)]
    lock_id: Option<LockId>,

    #[command(flatten)]
    target: Target,
}

const HELP: &str = "\
Exit codes:
  0 acquired · 3 held by another · 4 store unavailable · 5 outcome unknown

Example:
  leasehold lock acquire billing --ttl 1m --json | jq -r .fence";

impl Acquire {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let options = AcquireOptions {
            ttl: self.ttl,
            timeout: self.timeout,
            retry: Retry { retries_max: u32::MAX, ..Retry::default() },
            lock_id: self.lock_id,
        };
        match self.target.locks().await?.acquire(&self.key, &options).await {
            Ok(guard) => {
                let grant = guard.forget();
                let response = LockAcquireResponse {
                    ok: true,
                    reason: String::new(),
                    lock_id: grant.lock_id.as_str().to_owned(),
                    expires_at_ms: grant.expires_at.as_millis(),
                    fence: grant.fence.to_string(),
                };
                print(self.target.json, &response, || {
                    format!(
                        "acquired\nlock id     {}\nfence       {}\nexpires at  {} ms",
                        response.lock_id, response.fence, response.expires_at_ms
                    )
                })?;
                Ok(Done::Yes)
            }
            Err(Error::AcquisitionTimeout { .. }) => {
                let response =
                    LockAcquireResponse { reason: "locked".to_owned(), ..LockAcquireResponse::default() };
                print(self.target.json, &response, || "held by another".to_owned())?;
                Ok(Done::No)
            }
            Err(error) => Err(error.into()),
        }
    }
}
