//! The items of a partition as they are stored.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use leasehold_api::queue::{
    StorageItem, StorageItemsDeleteRequest, StorageItemsImportRequest, StorageItemsImportResponse,
    StorageItemsListRequest, StorageItemsListResponse,
};
use leasehold_client::ndjson::{PRODUCE_ROOM, Reader};
use leasehold_client::{Items as Ready, Scheduled};
use serde_json::json;

use super::block_on;
use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, payload, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// Look at the items of a partition as they are stored, add some, delete some.
#[derive(Debug, Args)]
pub(crate) struct Items {
    #[command(flatten)]
    target: Target,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Args)]
struct Place {
    /// The queue
    queue: String,

    /// The partition
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    partition: i32,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List ready and leased items in order, without leasing them
    List {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        paging: Paging,
    },
    /// List scheduled items
    Scheduled {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        paging: Paging,
    },
    /// Add items as they were stored elsewhere: lines of JSON as 'items list --json' has them; 'queue import' takes exports
    Import {
        #[command(flatten)]
        place: Place,
        /// The lines; - is stdin
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Delete items, leased or not; unknown ids are fine
    Delete {
        #[command(flatten)]
        place: Place,
        /// Ids that list printed
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

impl Items {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        let target = self.target;
        block_on(async {
            let client = target.client()?;
            match self.verb {
                Verb::List { place, paging } => {
                    let items = paging.take(&client, Ready(place.listing(&paging))).await?;
                    show(&target, items)?;
                }
                Verb::Scheduled { place, paging } => {
                    let items = paging.take(&client, Scheduled(place.listing(&paging))).await?;
                    show(&target, items)?;
                }
                Verb::Import { place, file } => {
                    let mut lines = Reader::<StorageItem>::open(&file, 0)?;
                    let mut imported = Vec::new();
                    while let Some(batch) = lines.batch(PRODUCE_ROOM)? {
                        let request = StorageItemsImportRequest {
                            queue_name: place.queue.clone(),
                            partition: place.partition,
                            items: batch.items,
                        };
                        imported.extend(client.import_items(&request).await?.items);
                    }
                    let response = StorageItemsImportResponse { items: imported };
                    print(target.json, &response, || format!("imported {} item(s)", response.items.len()))?;
                }
                Verb::Delete { place, ids } => {
                    let request = StorageItemsDeleteRequest {
                        queue_name: place.queue,
                        partition: place.partition,
                        ids,
                    };
                    client.delete_items(&request).await?;
                    print(target.json, &json!({ "done": true }), || "deleted".to_owned())?;
                }
            }
            Ok(Done::Yes)
        })
    }
}

impl Place {
    fn listing(&self, paging: &Paging) -> StorageItemsListRequest {
        StorageItemsListRequest {
            queue_name: self.queue.clone(),
            partition: self.partition,
            pivot: paging.pivot.clone(),
            limit: 0,
        }
    }
}

fn show(target: &Target, items: Vec<StorageItem>) -> Result<(), Failure> {
    let response = StorageItemsListResponse { items };
    print(target.json, &response, || {
        let mut table =
            Table::new(&["ID", "ATTEMPTS", "LEASED UNTIL", "READY AT", "EXPIRES AT", "KIND", "PAYLOAD"]);
        for item in &response.items {
            let leased_until = item.lease_deadline.filter(|_| item.is_leased);
            table.row([
                &item.id,
                &item.attempts,
                &instant::show(leased_until),
                &instant::show(item.enqueue_at),
                &instant::show(item.expire_deadline),
                &item.kind,
                &payload(&item.payload),
            ]);
        }
        table.to_string()
    })
}
