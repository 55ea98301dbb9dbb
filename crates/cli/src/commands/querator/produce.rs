use std::io::Read;

use clap::Args;
use leasehold_api::queue::{QueueProduceItem, QueueProduceRequest};

use super::{Result, answered, check_timeout, client, print};
use crate::connection::Connection;
use crate::instant;

/// Produce an item, as Querator's command does; 'queue produce' can do more.
#[derive(Debug, Args)]
pub(crate) struct Produce {
    /// The queue
    queue: String,
    /// The payload; stdin if it is left out
    #[arg(short, long)]
    payload: Option<String>,
    /// How the payload is encoded, for its consumer
    #[arg(long, default_value = "")]
    encoding: String,
    /// What kind of item it is, for its consumer
    #[arg(long, default_value = "")]
    kind: String,
    /// A reference of your own
    #[arg(long, default_value = "")]
    reference: String,
    /// When it becomes ready (RFC 3339)
    #[arg(long)]
    enqueue_at: Option<String>,
    /// How long the request may wait
    #[arg(long, default_value = "30s")]
    timeout: String,
    #[command(flatten)]
    connection: Connection,
}

impl Produce {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        check_timeout(&self.timeout)?;
        let from_stdin = self.payload.is_none();
        let payload = match self.payload {
            Some(payload) => payload.into_bytes(),
            None => {
                let mut payload = Vec::new();
                let read = std::io::stdin().read_to_end(&mut payload);
                read.map_err(|error| format!("failed to read from stdin: {error}"))?;
                payload
            }
        };
        let enqueue_at = self.enqueue_at.as_deref().map(instant::parse_rfc3339).transpose();
        let len = payload.len();
        let item = QueueProduceItem {
            encoding: self.encoding,
            kind: self.kind,
            reference: self.reference,
            enqueue_at: enqueue_at
                .map_err(|error| format!("invalid enqueue-at time format (use RFC3339): {error}"))?,
            bytes: payload.into(),
            utf8: String::new(),
        };
        let request =
            QueueProduceRequest { queue_name: self.queue, request_timeout: self.timeout, items: vec![item] };
        client
            .produce(&request)
            .await
            .map_err(|error| format!("failed to produce item: {}", answered(&error)))?;
        if !from_stdin {
            print(&format_args!("Successfully produced item with payload of {len} bytes"))?;
        }
        Ok(())
    }
}
