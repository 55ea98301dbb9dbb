use clap::Args;
use leasehold_persistence::Inspector;
use serde_json::{Value, json};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;

/// List the queues between clusters and of dead letters: how deep they are, and how far their readers are.
#[derive(Debug, Args)]
pub(super) struct Queues {}

impl Queues {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let depths = Inspector::new(target.database().await?).queues().await?;
        let queues: Vec<Value> = depths
            .queues
            .iter()
            .map(|queue| {
                json!({
                    "type": queue.queue_type,
                    "holds_dead_letters": queue.queue_type < 0,
                    "depth": queue.depth,
                    "last_message_id": queue.last_message_id,
                    "ack_levels": queue.ack_levels,
                    "version": queue.version,
                })
            })
            .collect();
        let named: Vec<Value> = depths
            .named_queues
            .iter()
            .map(|queue| {
                json!({
                    "type": queue.key.queue_type(),
                    "name": queue.key.name(),
                    "depth": queue.message_count,
                    "min_message_id": queue.min_message_id,
                })
            })
            .collect();
        print(target.json, &json!({ "queues": queues, "named_queues": named }), || {
            let mut table = Table::new(&["TYPE", "NAME", "DEPTH", "LAST", "READ UP TO"]);
            let or_none = |id: Option<i64>| id.map_or_else(String::new, |id| id.to_string());
            for queue in &depths.queues {
                let levels = queue.ack_levels.iter().map(|(cluster, level)| format!("{cluster} {level}"));
                let levels = levels.collect::<Vec<_>>().join(", ");
                table.row([&queue.queue_type, &"", &queue.depth, &or_none(queue.last_message_id), &levels]);
            }
            for queue in &depths.named_queues {
                let last = queue.min_message_id + queue.message_count - 1;
                let read = queue.min_message_id - 1;
                table.row([&queue.key.queue_type(), &queue.key.name(), &queue.message_count, &last, &read]);
            }
            table.to_string()
        })?;
        Ok(Done::Yes)
    }
}
