use clap::Args;
use leasehold_api::queue::QueuesListRequest;

use super::{Result, answered, client, print, shown};
use crate::connection::Connection;

/// List queues, as Querator's command does.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// How many at most
    #[arg(long, default_value_t = 100, allow_negative_numbers = true)]
    limit: i32,
    /// Begin at this name
    #[arg(long, default_value = "")]
    pivot: String,
    #[command(flatten)]
    connection: Connection,
}

impl List {
    pub(crate) async fn run(self) -> Result {
        let client = client(&self.connection)?;
        let request = QueuesListRequest { pivot: self.pivot, limit: self.limit, namespace: String::new() };
        let listed = client.list_queues(&request).await;
        let listed = listed.map_err(|error| format!("failed to list queues: {}", answered(&error)))?;
        print(&format_args!("{:#}", shown::queues(&listed.items)))?;
        eprintln!("Found {} queue(s)", listed.items.len());
        Ok(())
    }
}
