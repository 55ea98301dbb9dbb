use clap::Args;
use leasehold_core::duration;

use super::settings::{LEASES_PER_LIFE, NewQueue};
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Create a queue; it serves when this returns.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  leasehold queue create orders --lease-timeout 30s --max-attempts 5 --dead-queue orders-dead"
)]
pub(super) struct Create {
    /// The queue; names are the same in all namespaces
    queue: String,

    /// Who may use it is decided in this namespace [default: _system]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    namespace: String,

    #[command(flatten)]
    settings: NewQueue,
}

impl Create {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let lease = duration::parse(&self.settings.lease_timeout)
            .map_err(|error| Failure::input(error.to_string()))?;
        let mut info =
            self.settings.info(self.queue, || duration::format(lease.saturating_mul(LEASES_PER_LIFE)));
        info.namespace = self.namespace;
        target.client()?.create_queue(&info).await?;
        print(target.json, &info, || format!("created {}", info.queue_name))?;
        Ok(Done::Yes)
    }
}
