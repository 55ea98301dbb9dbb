use std::time::Duration;

use clap::Args;
use leasehold_api::queue::QueueExtendRequest;
use leasehold_core::duration;

use crate::failure::Failure;
use crate::instant;
use crate::output::{Done, print};
use crate::target::Target;

/// Hold leased items longer, counted from now: all of them or none.
#[derive(Debug, Args)]
pub(super) struct Extend {
    /// The queue
    queue: String,

    /// Ids that lease printed
    #[arg(required = true)]
    ids: Vec<String>,

    /// The partition they were leased from
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    partition: i32,

    /// How long from now on, in place of the queue's lease timeout
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    lease_timeout: Option<Duration>,

    /// How long the request may wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    timeout: Duration,
}

impl Extend {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let request = QueueExtendRequest {
            queue_name: self.queue,
            partition: self.partition,
            request_timeout: duration::format(self.timeout),
            ids: self.ids,
            lease_timeout: self.lease_timeout.map(duration::format).unwrap_or_default(),
        };
        let extended = target.client()?.extend(&request).await?;
        print(target.json, &extended, || format!("leased until {}", instant::show(extended.lease_deadline)))?;
        Ok(Done::Yes)
    }
}
