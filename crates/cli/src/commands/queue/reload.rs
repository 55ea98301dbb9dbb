use clap::Args;
use leasehold_api::queue::QueueReloadRequest;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Have the counts of a queue read again from its store.
#[derive(Debug, Args)]
pub(super) struct Reload {
    /// The queue
    queue: String,
}

impl Reload {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let request = QueueReloadRequest { queue_name: self.queue };
        target.client()?.reload(&request).await?;
        print(target.json, &json!({ "reloaded": request.queue_name }), || {
            format!("reloaded {}", request.queue_name)
        })?;
        Ok(Done::Yes)
    }
}
