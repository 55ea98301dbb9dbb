//! From one queue to another: lease here, produce there, complete here.

use std::time::Duration;

use clap::Args;
use leasehold_api::queue::{QueueInfo, QueueLeaseItem, QueueProduceItem, QueuesInfoRequest};
use leasehold_client::Error;
use leasehold_client::ndjson::PRODUCE_ROOM;
use leasehold_core::duration;
use prost::Message;
use serde_json::json;

use super::leasing::Consumer;
use super::produce::request;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::progress::Progress;
use crate::target::Target;

/// Move the items of a queue to another, until the first is empty.
///
/// At least once: each batch is leased from SOURCE, produced to DESTINATION, and only then completed. What is
/// interrupted in between is in both queues, and nothing is lost. Payload, kind, encoding and reference move along;
/// attempts and the time to live begin anew. Scheduled items stay until they are due.
#[derive(Debug, Args)]
pub(super) struct Move {
    /// Where the items are
    source: String,

    /// Where they go
    destination: String,

    #[command(flatten)]
    pace: Pace,
}

#[derive(Debug, Args)]
pub(super) struct Pace {
    /// How many items to move at once
    #[arg(short, long, value_name = "N", default_value_t = 100)]
    batch_size: u16,

    /// Take the source for empty when nothing became ready for so long
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = duration::parse)]
    timeout: Duration,

    /// End after so many items
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// How long one batch may wait to be stored.
const PRODUCE_TIMEOUT: Duration = Duration::from_secs(30);

impl Move {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        transfer(target, &self.source, &self.destination, self.pace, |_| Ok(())).await
    }
}

/// Moves what is ready, if `permits` takes the destination.
pub(super) async fn transfer(
    target: &Target,
    source: &str,
    destination: &str,
    pace: Pace,
    permits: impl Fn(&QueueInfo) -> Result<(), Failure>,
) -> Result<Done, Failure> {
    if source == destination {
        return Err(Failure::input("source and destination are the same queue"));
    }
    let client = target.client()?;
    // Nothing is leased, and no attempt spent, for a queue that is not there. Who may not ask finds out by producing.
    match client.queue_info(&QueuesInfoRequest { queue_name: destination.to_owned() }).await {
        Ok(info) => permits(&info)?,
        Err(Error::Answered { status: 403, .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut consumer = Consumer::new(&client, source, pace.batch_size, pace.timeout);
    let mut progress = Progress::new("moved", None);
    let limit = pace.limit.unwrap_or(u64::MAX);
    while progress.count() < limit {
        consumer.at_most(limit - progress.count());
        let Some(leased) = consumer.lease().await? else { break };
        for batch in batches(leased.items, PRODUCE_ROOM.bytes) {
            let len = batch.len();
            let (ids, items): (Vec<_>, Vec<_>) = batch.into_iter().map(produced_again).unzip();
            let sent = client.produce(&request(destination.to_owned(), PRODUCE_TIMEOUT, items)).await;
            sent.map_err(|error| {
                let moved = progress.count();
                Failure::from(error)
                    .next(format!("{moved} item(s) were moved; what is leased in '{source}' stays there"))
            })?;
            consumer.complete(leased.partition, ids).await.map_err(|error| {
                let moved = progress.count();
                Failure::from(error)
                    .next(format!("{moved} item(s) were moved; the last {len} are in both queues"))
            })?;
            progress.add(len);
        }
    }
    let moved = progress.count();
    drop(progress);
    print(target.json, &json!({ "moved": moved }), || {
        format!("moved {moved} item(s) from {source} to {destination}")
    })?;
    Ok(Done::Yes)
}

/// Items that fit into one request together; one that fits into none is left for the server to judge.
fn batches(items: Vec<QueueLeaseItem>, bytes_max: usize) -> Vec<Vec<QueueLeaseItem>> {
    let mut batches: Vec<Vec<QueueLeaseItem>> = Vec::new();
    let mut bytes = 0;
    for item in items {
        let len = item.encoded_len();
        match batches.last_mut() {
            Some(batch) if bytes + len <= bytes_max => {
                bytes += len;
                batch.push(item);
            }
            _ => {
                bytes = len;
                batches.push(vec![item]);
            }
        }
    }
    batches
}

fn produced_again(item: QueueLeaseItem) -> (String, QueueProduceItem) {
    let QueueLeaseItem { encoding, kind, reference, id, bytes, .. } = item;
    (id, QueueProduceItem { encoding, kind, reference, bytes, ..QueueProduceItem::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_what_one_request_may_carry_in_order() {
        let item = |len: usize| QueueLeaseItem { bytes: vec![b'x'; len].into(), ..QueueLeaseItem::default() };
        let lens = |items: Vec<QueueLeaseItem>| -> Vec<Vec<usize>> {
            let lens = |batch: &Vec<QueueLeaseItem>| batch.iter().map(|item| item.bytes.len()).collect();
            batches(items, 100).iter().map(lens).collect()
        };
        assert_eq!(
            lens(vec![item(40), item(41), item(42), item(500), item(1)]),
            [vec![40, 41], vec![42], vec![500], vec![1]]
        );
        assert!(lens(Vec::new()).is_empty());
    }
}
