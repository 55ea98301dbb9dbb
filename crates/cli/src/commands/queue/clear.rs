use clap::Args;
use leasehold_api::queue::QueueClearRequest;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Remove items without their being worked on.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  leasehold queue clear orders --ready --scheduled")]
pub(super) struct Clear {
    /// The queue
    queue: String,

    /// Remove ready items
    #[arg(long, required_unless_present_any = ["leased", "scheduled"])]
    ready: bool,

    /// Remove leased items and ready ones: whoever works on one can no longer complete it
    #[arg(long)]
    leased: bool,

    /// Remove scheduled items
    #[arg(long)]
    scheduled: bool,
}

impl Clear {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let request = QueueClearRequest {
            queue_name: self.queue,
            scheduled: self.scheduled,
            queue: self.ready || self.leased,
            destructive: self.leased,
        };
        target.client()?.clear(&request).await?;
        print(target.json, &json!({ "cleared": request.queue_name }), || {
            format!("cleared {}", request.queue_name)
        })?;
        Ok(Done::Yes)
    }
}
