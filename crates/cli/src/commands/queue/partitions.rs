use leasehold_api::queue::{QueueStatsRequest, StorageItemsListRequest};
use leasehold_client::Client;

use crate::failure::Failure;

/// The partitions of a queue, and how many items they hold together.
#[derive(Debug)]
pub(super) struct Partitions {
    pub(super) numbers: Vec<i32>,
    pub(super) items: u64,
}

/// All of them, or the one that is asked for.
pub(super) async fn partitions(
    client: &Client,
    queue: &str,
    only: Option<i32>,
) -> Result<Partitions, Failure> {
    let stats = client.stats(&QueueStatsRequest { queue_name: queue.to_owned() }).await?;
    let found = stats.logical_queues.iter().flat_map(|logical| &logical.partitions);
    let wanted: Vec<_> = found.filter(|stats| only.is_none_or(|only| only == stats.partition)).collect();
    if wanted.is_empty() {
        let missing = only.map_or_else(|| "partitions".to_owned(), |only| format!("partition {only}"));
        return Err(Failure::input(format!("queue '{queue}' has no {missing}")));
    }
    let count = |items: i32| u64::try_from(items).unwrap_or_default();
    let items = wanted.iter().map(|stats| count(stats.total) + count(stats.scheduled)).sum();
    Ok(Partitions { numbers: wanted.iter().map(|stats| stats.partition).collect(), items })
}

pub(super) fn listing(queue: &str, partition: i32) -> StorageItemsListRequest {
    StorageItemsListRequest { queue_name: queue.to_owned(), partition, ..Default::default() }
}
