use clap::Args;
use leasehold_api::queue::{QueueRetryItem, QueueRetryRequest};
use prost_types::Timestamp;
use serde_json::json;

use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::target::Target;

/// Give leased items back: now, later, or to the dead queue. All of them or none.
#[derive(Debug, Args)]
pub(super) struct Retry {
    /// The queue
    queue: String,

    /// Ids that lease printed
    #[arg(required = true)]
    ids: Vec<String>,

    /// The partition they were leased from
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    partition: i32,

    /// When they become ready again: 2026-11-15T07:05:51Z, or 30s for so long from now
    #[arg(long, value_name = "INSTANT|DURATION", value_parser = instant::parse)]
    at: Option<Timestamp>,

    /// To the dead queue; where the queue has none they are deleted
    #[arg(long, conflicts_with = "at")]
    dead: bool,
}

impl Retry {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let given_back = |id| QueueRetryItem { id, retry_at: self.at, dead: self.dead };
        let items: Vec<_> = self.ids.into_iter().map(given_back).collect();
        let request = QueueRetryRequest { queue_name: self.queue, partition: self.partition, items };
        target.client()?.retry(&request).await?;
        let retried = request.items.len();
        print(target.json, &json!({ "retried": retried }), || format!("gave back {retried} item(s)"))?;
        Ok(Done::Yes)
    }
}
