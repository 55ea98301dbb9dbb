use std::time::{Duration, Instant};

use clap::Args;
use leasehold_client::{Client, Health as Report};
use leasehold_core::{Deadline, duration};

use super::block_on;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::target::Target;

/// Ask whether a server is well: for supervisors, for containers, for scripts that wait until it has started.
///
/// Where a server has an address for operators (--admin-address), name that one.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes:\n  0 it is well · 4 it does not answer, or its store does not\n\n\
                        Example:\n  leasehold health --timeout 10s && leasehold queue list")]
pub(crate) struct Health {
    /// Keep asking this long until it is well; 0s asks once
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = duration::parse)]
    timeout: Duration,

    #[command(flatten)]
    target: Target,
}

/// Between two questions: short beside a start, long beside the cost of an answer.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(50);

impl Health {
    pub(crate) fn run(self) -> Result<Done, Failure> {
        block_on(async {
            let client = self.target.client()?;
            let deadline = Deadline::after(self.timeout);
            loop {
                match self.ask(&client).await {
                    Err(_) if !deadline.is_past(Instant::now()) => tokio::time::sleep(ASK_AGAIN_AFTER).await,
                    answered => {
                        let Report { version, report, .. } = answered?;
                        print(self.target.json, &report, || format!("well, version {version}"))?;
                        return Ok(Done::Yes);
                    }
                }
            }
        })
    }

    async fn ask(&self, client: &Client) -> Result<Report, Failure> {
        let report = client.health().await?;
        match report.passes {
            true => Ok(report),
            false => Err(Failure::unhealthy("the server answers, but its store does not")
                .next("the server's log says why; 'leasehold doctor --store URL' looks at the store itself")),
        }
    }
}
