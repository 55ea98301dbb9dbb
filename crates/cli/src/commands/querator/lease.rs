use clap::Args;
use leasehold_api::queue::QueueLeaseRequest;

use super::{Result, answered, check_timeout, client, print, shown};
use crate::client_id;
use crate::connection::Connection;

/// Lease items, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct Lease {
    /// The queue
    queue: String,
    /// One waiting request per client id; a random one if it is left out
    #[arg(short, long)]
    client_id: Option<String>,
    /// How many items at most
    #[arg(short, long, default_value_t = 1, allow_negative_numbers = true)]
    batch_size: i32,
    /// How long to wait for the first item
    #[arg(long, default_value = "30s")]
    timeout: String,
    #[command(flatten)]
    connection: Connection,
}

impl Lease {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        check_timeout(&self.timeout)?;
        let request = QueueLeaseRequest {
            queue_name: self.queue,
            batch_size: self.batch_size,
            client_id: self.client_id.unwrap_or_else(client_id::random),
            request_timeout: self.timeout,
            lease_timeout: String::new(),
        };
        let leased = client.lease(&request).await;
        let leased = leased.map_err(|error| format!("failed to lease items: {}", answered(&error)))?;
        print(&format_args!("{:#}", shown::leased(&leased)))?;
        eprintln!("Successfully leased {} item(s) from queue '{}'", leased.items.len(), request.queue_name);
        Ok(())
    }
}
