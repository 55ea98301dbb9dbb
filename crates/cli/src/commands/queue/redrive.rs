use clap::Args;
use leasehold_api::queue::QueueInfo;

use super::transfer::{Pace, transfer};
use crate::failure::Failure;
use crate::output::Done;
use crate::target::Target;

/// Give the items of a dead queue another chance in the queue they came from.
///
/// At least once, as 'queue move': what is interrupted between the two queues is in both, and nothing is lost. Only from
/// the dead queue of DESTINATION, so that the two cannot be mistaken for each other; 'queue move' takes any two.
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
        let is_its_dead_queue = |destination: &QueueInfo| match destination.dead_queue == self.dead {
            true => Ok(()),
            false => Err(not_its_dead_queue(&self.dead, destination)),
        };
        transfer(target, &self.dead, &self.destination, self.pace, is_its_dead_queue).await
    }
}

fn not_its_dead_queue(dead: &str, destination: &QueueInfo) -> Failure {
    let its = match destination.dead_queue.as_str() {
        "" => "it has none".to_owned(),
        its => format!("that is '{its}'"),
    };
    let name = &destination.queue_name;
    Failure::input(format!("'{dead}' is not the dead queue of '{name}': {its}"))
        .next(format!("'leasehold queue move {dead} {name}' moves between any two"))
}
