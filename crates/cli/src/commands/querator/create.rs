use clap::Args;
use leasehold_core::duration;

use super::{Result, answered, client, refusal};
use crate::commands::queue::settings::{LEASES_PER_LIFE, NewQueue};
use crate::connection::Connection;

/// Create a queue, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct Create {
    /// The queue
    queue: String,
    #[command(flatten)]
    settings: NewQueue,
    #[command(flatten)]
    connection: Connection,
}

impl Create {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        let lease = refusal::duration(&self.settings.lease_timeout);
        let lease = lease.map_err(|error| format!("invalid lease-timeout format: {error}"))?;
        let info = self.settings.info(self.queue, || duration::format(lease.saturating_mul(LEASES_PER_LIFE)));
        client
            .create_queue(&info)
            .await
            .map_err(|error| format!("failed to create queue: {}", answered(&error)))?;
        eprintln!(
            "Successfully created queue '{}' (partitions: {}, lease-timeout: {}, expire-timeout: {})",
            info.queue_name, info.requested_partitions, info.lease_timeout, info.expire_timeout
        );
        Ok(())
    }
}
