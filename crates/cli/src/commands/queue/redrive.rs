use clap::Args;

use super::transfer::{Pace, transfer};
use crate::failure::Failure;
use crate::output::Done;
use crate::target::Target;

/// Give the items of a dead queue another chance in the queue they came from.
///
/// At least once, as 'queue move': what is interrupted between the two queues is in both, and nothing is lost.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  leasehold queue redrive orders-dead orders --limit 10")]
pub(super) struct Redrive {
    /// The dead queue
    dead: String,

    /// Where its items go
    destination: String,

    #[command(flatten)]
    pace: Pace,
}

impl Redrive {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        transfer(target, &self.dead, &self.destination, self.pace).await
    }
}
