use clap::Args;
use leasehold_api::queue::QueuesDeleteRequest;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Delete a queue and its items.
#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The queue
    queue: String,
}

impl Delete {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let request = QueuesDeleteRequest { queue_name: self.queue, force: false };
        target.client()?.delete_queue(&request).await?;
        print(target.json, &json!({ "deleted": request.queue_name }), || {
            format!("deleted {}", request.queue_name)
        })?;
        Ok(Done::Yes)
    }
}
