use clap::Args;
use leasehold_api::queue::QueuesInfoRequest;

use super::{Result, answered, client, refusal};
use crate::commands::queue::settings::Changes;
use crate::connection::Connection;

/// Change a queue, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct Update {
    /// The queue
    queue: String,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    connection: Connection,
}

impl Update {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        if self.changes.is_empty() {
            return Err("no update flags provided (use --help to see available options)".to_owned());
        }
        let lease = self.changes.lease_timeout.as_deref().map(refusal::duration).transpose();
        let lease = lease.map_err(|error| format!("invalid lease-timeout format: {error}"))?;
        let info = client.queue_info(&QueuesInfoRequest { queue_name: self.queue }).await;
        let mut info =
            info.map_err(|error| format!("failed to get current queue info: {}", answered(&error)))?;
        self.changes.apply(&mut info, lease);
        client
            .update_queue(&info)
            .await
            .map_err(|error| format!("failed to update queue: {}", answered(&error)))?;
        eprintln!("Successfully updated queue '{}'", info.queue_name);
        Ok(())
    }
}
