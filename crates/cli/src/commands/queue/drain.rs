use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use leasehold_client::ndjson;
use leasehold_core::duration;

use super::leasing::Consumer;
use crate::failure::Failure;
use crate::output::{Done, written};
use crate::progress::Progress;
use crate::target::Target;

/// Lease, print and complete items until the queue is empty.
///
/// Prints a line of JSON an item, before the item is completed: what is interrupted in between is printed again next
/// time, and nothing is lost.
#[derive(Debug, Args)]
pub(super) struct Drain {
    /// The queue
    queue: String,

    /// How many items to lease at once
    #[arg(short, long, value_name = "N", default_value_t = 100)]
    batch_size: u16,

    /// Take the queue for empty when nothing became ready for so long
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::parse)]
    timeout: Duration,

    /// End after so many items
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

impl Drain {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let mut consumer = Consumer::new(&client, &self.queue, self.batch_size, self.timeout);
        let mut progress = Progress::new("drained", None);
        let limit = self.limit.unwrap_or(u64::MAX);
        while progress.count() < limit {
            consumer.at_most(limit - progress.count());
            let Some(leased) = consumer.lease().await? else { break };
            let mut out = io::stdout().lock();
            for item in &leased.items {
                // Not completed unless it was printed.
                if !written(ndjson::write(&mut out, item))? {
                    return Ok(Done::Yes);
                }
            }
            if !written(out.flush())? {
                return Ok(Done::Yes);
            }
            let len = leased.items.len();
            let ids = leased.items.into_iter().map(|item| item.id).collect();
            consumer.complete(leased.partition, ids).await.map_err(|error| {
                Failure::from(error).next(format!("the last {len} item(s) printed will come again"))
            })?;
            progress.add(len);
        }
        Ok(Done::Yes)
    }
}
