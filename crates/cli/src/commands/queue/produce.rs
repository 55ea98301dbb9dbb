use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use leasehold_api::queue::{QueueProduceItem, QueueProduceRequest};
use leasehold_client::Client;
use leasehold_client::ndjson::{PRODUCE_ROOM, Reader, count_behind};
use leasehold_core::duration;
use prost_types::Timestamp;
use serde_json::json;

use crate::failure::Failure;
use crate::instant;
use crate::interrupt::Interruptible;
use crate::output::{Done, print};
use crate::progress::Progress;
use crate::target::Target;

/// Produce an item, or the items of a file.
///
/// A file has an item on each line, as JSON: {"utf8":"…"} or {"bytes":"base64"}, with "kind", "reference", "encoding"
/// and "enqueue_at" if they are wanted. It is sent in batches; each is stored whole, in order, or not at all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  leasehold queue produce orders --payload '{\"order\":17}' --kind order
  leasehold queue produce orders --file items.ndjson
  leasehold queue produce reminders --payload wake-up --enqueue-at 30m")]
pub(super) struct Produce {
    /// The queue
    queue: String,

    /// The payload; stdin if neither this nor --file is given
    #[arg(short, long, conflicts_with = "file")]
    payload: Option<String>,

    /// Items as lines of JSON; - is stdin
    #[arg(short, long)]
    file: Option<PathBuf>,

    /// Pass over so many lines of the file
    #[arg(long, value_name = "LINES", default_value_t = 0, requires = "file")]
    offset: u64,

    /// What kind of item it is, for its consumer
    #[arg(long, default_value = "", hide_default_value = true, conflicts_with = "file")]
    kind: String,

    /// How the payload is encoded, for its consumer
    #[arg(long, default_value = "", hide_default_value = true, conflicts_with = "file")]
    encoding: String,

    /// A reference of your own
    #[arg(long, default_value = "", hide_default_value = true, conflicts_with = "file")]
    reference: String,

    /// When it becomes ready: 2026-11-15T07:05:51Z, or 30s for so long from now
    #[arg(long, value_name = "INSTANT|DURATION", value_parser = instant::parse, conflicts_with = "file")]
    enqueue_at: Option<Timestamp>,

    /// How long each request may wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
}

impl Produce {
    pub(super) async fn run(mut self, target: &Target) -> Result<Done, Failure> {
        let client = target.client()?;
        let produced = match self.file.take() {
            Some(path) => self.produce_file(&client, &path).await?,
            None => self.produce_one(&client).await?,
        };
        print(target.json, &json!({ "produced": produced }), || format!("produced {produced} item(s)"))?;
        Ok(Done::Yes)
    }

    async fn produce_one(self, client: &Client) -> Result<u64, Failure> {
        let payload = match self.payload {
            Some(payload) => payload.into_bytes(),
            None => {
                let mut payload = Vec::new();
                let read = std::io::stdin().read_to_end(&mut payload);
                read.map_err(|error| Failure::file("-", error))?;
                payload
            }
        };
        let item = QueueProduceItem {
            encoding: self.encoding,
            kind: self.kind,
            reference: self.reference,
            enqueue_at: self.enqueue_at,
            bytes: payload.into(),
            utf8: String::new(),
        };
        client.produce(&request(self.queue, self.timeout, vec![item])).await?;
        Ok(1)
    }

    async fn produce_file(&self, client: &Client, path: &Path) -> Result<u64, Failure> {
        let mut lines = Reader::<QueueProduceItem>::open(path, self.offset)?;
        let mut progress = Progress::towards("produced", || count_behind(path, self.offset));
        let interruptible = Interruptible::start("produced", self.offset)?;
        while let Some(batch) = lines.batch(PRODUCE_ROOM).map_err(|error| interruptible.failed(error))? {
            let len = batch.items.len();
            interruptible.begin();
            let sent = client.produce(&request(self.queue.clone(), self.timeout, batch.items)).await;
            sent.map_err(|error| interruptible.failed(error))?;
            progress.add(len);
            interruptible.end(len, batch.offset);
        }
        Ok(progress.count())
    }
}

pub(super) fn request(queue: String, timeout: Duration, items: Vec<QueueProduceItem>) -> QueueProduceRequest {
    QueueProduceRequest { queue_name: queue, request_timeout: duration::format(timeout), items }
}
