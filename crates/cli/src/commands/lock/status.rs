use clap::Args;
use leasehold_api::lock::LockIsLockedResponse;
use leasehold_core::Key;

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Say whether a key is held.
#[derive(Debug, Args)]
pub(super) struct Status {
    /// The key
    #[arg(value_parser = Key::parse)]
    key: Key,

    #[command(flatten)]
    target: Target,
}

impl Status {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let locked = self.target.locks().await?.is_locked(&self.key).await?;
        print(self.target.json, &LockIsLockedResponse { locked }, || {
            if locked { "held".to_owned() } else { "free".to_owned() }
        })?;
        Ok(Done::Yes)
    }
}
