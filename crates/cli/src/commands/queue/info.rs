use clap::Args;
use leasehold_api::queue::QueuesInfoRequest;

use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::table::Table;
use crate::target::Target;

/// Show how a queue is set up.
#[derive(Debug, Args)]
pub(super) struct Info {
    /// The queue
    queue: String,
}

impl Info {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let info = target.client()?.queue_info(&QueuesInfoRequest { queue_name: self.queue }).await?;
        print(target.json, &info, || {
            let mut table = Table::new(&["QUEUE", info.queue_name.as_str()]);
            table.row([&"namespace", &info.namespace]);
            table.row([&"partitions", &info.requested_partitions]);
            table.row([&"lease timeout", &info.lease_timeout]);
            table.row([&"expire timeout", &info.expire_timeout]);
            table.row([&"max attempts", &info.max_attempts]);
            table.row([&"dead queue", &info.dead_queue]);
            table.row([&"reference", &info.reference]);
            table.row([&"created at", &instant::show(info.created_at)]);
            table.row([&"updated at", &instant::show(info.updated_at)]);
            table.to_string()
        })?;
        Ok(Done::Yes)
    }
}
