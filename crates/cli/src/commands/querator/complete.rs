use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use leasehold_api::queue::QueueCompleteRequest;

use super::{Result, answered, check_timeout, client};
use crate::connection::Connection;

/// Complete leased items, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The queue
    queue: String,
    /// Ids that lease printed
    ids: Vec<String>,
    /// The partition they were leased from
    #[arg(short, long, allow_negative_numbers = true)]
    partition: i32,
    /// A file with an id on each line
    #[arg(long)]
    file: Option<PathBuf>,
    /// How long the request may wait
    #[arg(long, default_value = "30s")]
    timeout: String,
    #[command(flatten)]
    connection: Connection,
}

impl Complete {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        check_timeout(&self.timeout)?;
        let mut ids = self.ids;
        if ids.is_empty() && self.file.is_none() {
            return Err("no item IDs provided (use command line arguments or --file)".to_owned());
        }
        if let Some(path) = self.file {
            let mut text = String::new();
            File::open(path)
                .map_err(|error| format!("failed to open file: {error}"))?
                .read_to_string(&mut text)
                .map_err(|error| format!("failed to read file: {error}"))?;
            ids.extend(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned));
        }
        if ids.is_empty() {
            return Err("no item IDs to complete".to_owned());
        }
        let request = QueueCompleteRequest {
            queue_name: self.queue,
            partition: self.partition,
            request_timeout: self.timeout,
            ids,
        };
        client
            .complete(&request)
            .await
            .map_err(|error| format!("failed to complete items: {}", answered(&error)))?;
        eprintln!(
            "Successfully completed {} item(s) in queue '{}' partition {}",
            request.ids.len(),
            request.queue_name,
            request.partition
        );
        Ok(())
    }
}
