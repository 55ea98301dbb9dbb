use std::time::Duration;

use clap::Args;
use leasehold_api::queue::QueueCompleteRequest;
use leasehold_core::duration;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Complete leased items: all of them or none.
#[derive(Debug, Args)]
pub(super) struct Complete {
    /// The queue
    queue: String,

    /// Ids that lease printed
    #[arg(required = true)]
    ids: Vec<String>,

    /// The partition they were leased from
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    partition: i32,

    /// How long the request may wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
}

impl Complete {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let request = QueueCompleteRequest {
            queue_name: self.queue,
            partition: self.partition,
            request_timeout: duration::format(self.timeout),
            ids: self.ids,
        };
        target.client()?.complete(&request).await?;
        let completed = request.ids.len();
        print(target.json, &json!({ "completed": completed }), || format!("completed {completed} item(s)"))?;
        Ok(Done::Yes)
    }
}
