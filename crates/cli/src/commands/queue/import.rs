use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use leasehold_api::queue::{QueueProduceItem, StorageItem, StorageItemsImportRequest};
use leasehold_client::Client;
use leasehold_client::ndjson::{PRODUCE_ROOM, Reader, Stored, count_behind};
use serde_json::json;

use super::partitions::partitions;
use super::produce::request;
use crate::failure::Failure;
use crate::interrupt::Interruptible;
use crate::output::{Done, print};
use crate::progress::Progress;
use crate::target::Target;

/// Put exported items into a queue, with their attempts and the time they have left.
///
/// Can be repeated: an item that is still in its partition from an earlier import is not added again, scheduled
/// items excepted. Leases are not kept: their holders are elsewhere.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  leasehold queue import orders orders.ndjson --offset 2000")]
pub(super) struct Import {
    /// The queue
    queue: String,

    /// What 'queue export' wrote; - is stdin
    #[arg(default_value = "-")]
    file: PathBuf,

    /// Pass over so many lines
    #[arg(long, value_name = "LINES", default_value_t = 0)]
    offset: u64,

    /// All into this partition, not each into that it came from
    #[arg(short, long, value_name = "N")]
    partition: Option<i32>,
}

/// How long one batch of scheduled items may wait to be stored.
const PRODUCE_TIMEOUT: Duration = Duration::from_secs(30);

impl Import {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let mut lines = Reader::<Stored>::open(&self.file, self.offset)?;
        let numbers = partitions(&client, &self.queue, self.partition).await?.numbers;
        let mut progress = Progress::towards("imported", || count_behind(&self.file, self.offset));
        let interruptible = Interruptible::start("imported", self.offset)?;
        while let Some(batch) = lines.batch(PRODUCE_ROOM).map_err(|error| interruptible.failed(error))? {
            let len = batch.items.len();
            interruptible.begin();
            let sent = import(&client, &self.queue, &numbers, batch.items).await;
            sent.map_err(|error| interruptible.failed(error))?;
            progress.add(len);
            interruptible.end(len, batch.offset);
        }
        let imported = progress.count();
        drop(progress);
        print(target.json, &json!({ "imported": imported }), || format!("imported {imported} item(s)"))?;
        Ok(Done::Yes)
    }
}

/// Scheduled items last: they are the ones that a repeated batch would add again.
async fn import(
    client: &Client,
    queue: &str,
    numbers: &[i32],
    batch: Vec<Stored>,
) -> leasehold_client::Result<()> {
    let (scheduled, stored): (Vec<_>, Vec<_>) =
        batch.into_iter().partition(|stored| stored.item.enqueue_at.is_some());
    for number in numbers {
        let of_number = |stored: &&Stored| placed(stored.partition, numbers) == *number;
        let items: Vec<_> = stored.iter().filter(of_number).map(|stored| arriving(&stored.item)).collect();
        if !items.is_empty() {
            let question =
                StorageItemsImportRequest { queue_name: queue.to_owned(), partition: *number, items };
            client.import_items(&question).await?;
        }
    }
    if !scheduled.is_empty() {
        let items = scheduled.into_iter().map(|stored| due_later(stored.item)).collect();
        client.produce(&request(queue.to_owned(), PRODUCE_TIMEOUT, items)).await?;
    }
    Ok(())
}

/// The partition it came from, or another one where there are fewer. There is at least one.
fn placed(partition: i32, numbers: &[i32]) -> i32 {
    match numbers.contains(&partition) {
        true => partition,
        false => numbers[usize::try_from(partition).unwrap_or_default() % numbers.len()],
    }
}

/// The source id is what lets the server see that it has the item already.
fn arriving(item: &StorageItem) -> StorageItem {
    let mut item = StorageItem { is_leased: false, lease_deadline: None, ..item.clone() };
    if item.source_id.is_empty() {
        item.source_id.clone_from(&item.id);
    }
    item
}

fn due_later(item: StorageItem) -> QueueProduceItem {
    QueueProduceItem {
        encoding: item.encoding,
        kind: item.kind,
        reference: item.reference,
        enqueue_at: item.enqueue_at,
        bytes: item.payload,
        utf8: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_go_where_they_came_from_or_where_there_is_room() {
        assert_eq!(placed(1, &[0, 1]), 1);
        assert_eq!(placed(3, &[0, 1]), 1);
        assert_eq!(placed(3, &[5]), 5);
        assert_eq!(placed(-1, &[0]), 0);
    }

    #[test]
    fn arriving_items_have_no_lease_and_say_where_they_come_from() {
        let item = StorageItem { id: "a".to_owned(), is_leased: true, attempts: 3, ..StorageItem::default() };
        let arrived = arriving(&item);
        assert!(!arrived.is_leased);
        assert_eq!((arrived.source_id.as_str(), arrived.attempts), ("a", 3));
        let moved = StorageItem { source_id: "first".to_owned(), ..item };
        assert_eq!(arriving(&moved).source_id, "first");
    }
}
