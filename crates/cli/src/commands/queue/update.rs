use clap::Args;
use leasehold_api::queue::QueuesInfoRequest;
use leasehold_core::duration;

use super::settings::Changes;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Change a queue; what no flag names stays as it is.
#[derive(Debug, Args)]
pub(super) struct Update {
    /// The queue
    queue: String,

    #[command(flatten)]
    changes: Changes,
}

impl Update {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        if self.changes.is_empty() {
            return Err(Failure::input("nothing to change; --help shows the flags"));
        }
        let lease = self.changes.lease_timeout.as_deref().map(duration::parse).transpose();
        let lease = lease.map_err(|error| Failure::input(error.to_string()))?;
        let client = target.client()?;
        let mut info = client.queue_info(&QueuesInfoRequest { queue_name: self.queue }).await?;
        self.changes.apply(&mut info, lease);
        client.update_queue(&info).await?;
        print(target.json, &info, || format!("updated {}", info.queue_name))?;
        Ok(Done::Yes)
    }
}
