use clap::Args;
use leasehold_api::queue::QueueStatsRequest;

use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;
use crate::target::Target;

/// Count the items of a queue and who waits for it.
#[derive(Debug, Args)]
pub(super) struct Stats {
    /// The queue
    queue: String,
}

impl Stats {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let stats = target.client()?.stats(&QueueStatsRequest { queue_name: self.queue }).await?;
        print(target.json, &stats, || {
            let mut table = Table::new(&[
                "PARTITION",
                "READY",
                "LEASED",
                "SCHEDULED",
                "AVERAGE AGE",
                "AVERAGE LEASE LEFT",
                "FAILURES",
            ]);
            for partition in stats.logical_queues.iter().flat_map(|queue| &queue.partitions) {
                table.row([
                    &partition.partition,
                    &(partition.total - partition.total_leased),
                    &partition.total_leased,
                    &partition.scheduled,
                    &partition.average_age,
                    &partition.average_leased_age,
                    &partition.failures,
                ]);
            }
            let waiting = |count: fn(&leasehold_api::queue::QueueLogicalStats) -> i32| -> i32 {
                stats.logical_queues.iter().map(count).sum()
            };
            format!(
                "{table}\nwaiting: {} produce, {} lease, {} complete; {} in flight",
                waiting(|queue| queue.produce_waiting),
                waiting(|queue| queue.lease_waiting),
                waiting(|queue| queue.complete_waiting),
                waiting(|queue| queue.in_flight),
            )
        })?;
        Ok(Done::Yes)
    }
}
