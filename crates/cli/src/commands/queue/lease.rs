use std::time::Duration;

use clap::Args;
use leasehold_api::queue::QueueLeaseResponse;
use leasehold_core::duration;

use super::leasing::Consumer;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, payload, print};
use crate::table::Table;
use crate::target::Target;

/// Lease items and print them; complete, retry or extend them before the lease ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0 leased · 3 nothing became ready in time · 4 server unavailable · 5 outcome unknown

Example:
  leasehold queue lease orders --batch-size 10 --json | jq -r '.items[].id'")]
pub(super) struct Lease {
    /// The queue
    queue: String,

    /// How many items at most; fewer are not waited for
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    batch_size: u16,

    /// How long to wait for the first item
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,

    /// How long the lease lasts, in place of the queue's
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    lease_timeout: Option<Duration>,

    /// One waiting request per client id; a random one if it is left out
    #[arg(short, long, value_name = "ID")]
    client_id: Option<String>,
}

impl Lease {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let mut consumer = Consumer::new(&client, &self.queue, self.batch_size, self.timeout);
        if let Some(client_id) = self.client_id {
            consumer.client_id(client_id);
        }
        if let Some(lease_timeout) = self.lease_timeout {
            consumer.lease_timeout(lease_timeout);
        }
        let leased = consumer.lease().await?;
        let done = Done::from(leased.is_some());
        let leased =
            leased.unwrap_or_else(|| QueueLeaseResponse { queue_name: self.queue, ..Default::default() });
        print(target.json, &leased, || match leased.items.as_slice() {
            [] => "nothing to lease".to_owned(),
            items => {
                let mut table =
                    Table::new(&["ID", "PARTITION", "ATTEMPTS", "LEASED UNTIL", "KIND", "PAYLOAD"]);
                for item in items {
                    table.row([
                        &item.id,
                        &leased.partition,
                        &item.attempts,
                        &instant::show(item.lease_deadline),
                        &item.kind,
                        &payload(&item.bytes),
                    ]);
                }
                table.to_string()
            }
        })?;
        Ok(done)
    }
}
