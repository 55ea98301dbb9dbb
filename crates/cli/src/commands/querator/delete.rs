use clap::Args;
use leasehold_api::queue::QueuesDeleteRequest;

use super::{Result, answered, client};
use crate::connection::Connection;

/// Delete a queue and its items, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The queue
    queue: String,
    /// Taken for Querator's sake; the server does not ask
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Delete {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        let request = QueuesDeleteRequest { queue_name: self.queue, force: self.force };
        client
            .delete_queue(&request)
            .await
            .map_err(|error| format!("failed to delete queue: {}", answered(&error)))?;
        eprintln!("Successfully deleted queue '{}'", request.queue_name);
        Ok(())
    }
}
