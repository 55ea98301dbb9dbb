use clap::Args;
use leasehold_api::queue::{QueuesListRequest, QueuesListResponse};

use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::paging::Paging;
use crate::table::Table;
use crate::target::Target;

/// List the queues of a namespace by name.
#[derive(Debug, Args)]
pub(super) struct List {
    /// The namespace [default: _system]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    namespace: String,

    #[command(flatten)]
    paging: Paging,
}

impl List {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let list =
            QueuesListRequest { pivot: self.paging.pivot.clone(), limit: 0, namespace: self.namespace };
        let items = self.paging.take(&target.client()?, list).await?;
        let response = QueuesListResponse { items };
        print(target.json, &response, || {
            let mut table = Table::new(&[
                "QUEUE",
                "PARTITIONS",
                "LEASE",
                "EXPIRE",
                "ATTEMPTS",
                "DEAD QUEUE",
                "CREATED AT",
            ]);
            for queue in &response.items {
                table.row([
                    &queue.queue_name,
                    &queue.requested_partitions,
                    &queue.lease_timeout,
                    &queue.expire_timeout,
                    &queue.max_attempts,
                    &queue.dead_queue,
                    &instant::show(queue.created_at),
                ]);
            }
            table.to_string()
        })?;
        Ok(Done::Yes)
    }
}
