use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use leasehold_persistence::{PageSize, TaskQueueGeneration, TaskQueueLease, TaskQueuePosition};
use serde_json::{Value, json};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;

/// List task queues with the range of whoever leases them.
///
/// On DSQL a hash of the name is stored, and the name cannot be shown.
#[derive(Debug, Args)]
pub(super) struct TaskQueues {
    /// Which of Temporal's two pairs of tables
    #[arg(long, value_enum, default_value_t = Generation::First)]
    generation: Generation,

    /// Only those after this one: the 'next' of the list before
    #[arg(long, value_name = "POSITION", value_parser = position)]
    after: Option<TaskQueuePosition>,

    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Generation {
    /// task_queues
    First,
    /// task_queues_v2
    Second,
}

impl TaskQueues {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let generation = match self.generation {
            Generation::First => TaskQueueGeneration::First,
            Generation::Second => TaskQueueGeneration::Second,
        };
        let page_size = PageSize::new(self.limit.into())?;
        let inspector = target.inspector().await?;
        let leases = inspector.task_queues(generation, self.after.as_ref(), page_size).await?;
        let is_full = leases.len() == usize::from(self.limit);
        let next = leases.last().filter(|_| is_full).map(|lease| shown(&lease.position));
        let listed: Vec<Value> = leases.iter().map(listed).collect();
        print(target.json, &json!({ "task_queues": listed, "next": next }), || {
            let mut table = Table::new(&["RANGE", "TYPE", "NAMESPACE", "NAME"]);
            for lease in &leases {
                match &lease.name {
                    Some(name) => {
                        table.row([
                            &lease.range_id,
                            &task_type(name.task_type),
                            &name.namespace_id,
                            &name.name,
                        ]);
                    }
                    None => table.row([&lease.range_id, &"", &"", &shown(&lease.position)]),
                }
            }
            match &next {
                Some(next) => format!("{table}\nthere may be more: --after {next}"),
                None => table.to_string(),
            }
        });
        Ok(Done::Yes)
    }
}

fn listed(lease: &TaskQueueLease) -> Value {
    json!({
        "position": shown(&lease.position),
        "range_id": lease.range_id,
        "namespace_id": lease.name.as_ref().map(|name| name.namespace_id.to_string()),
        "name": lease.name.as_ref().map(|name| name.name.as_str()),
        "type": lease.name.as_ref().map(|name| task_type(name.task_type)),
    })
}

fn task_type(number: u8) -> String {
    match number {
        1 => "workflow".to_owned(),
        2 => "activity".to_owned(),
        3 => "nexus".to_owned(),
        other => other.to_string(),
    }
}

/// The hash and the stored id, as text that can be typed.
fn shown(position: &TaskQueuePosition) -> String {
    let mut text = format!("{}:", position.range_hash);
    for byte in &position.stored_id {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn position(text: &str) -> Result<TaskQueuePosition, String> {
    let read = || {
        let (hash, id) = text.split_once(':')?;
        let bytes =
            id.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        let stored_id: Option<Vec<u8>> = bytes.collect();
        let stored_id = stored_id.filter(|_| id.len().is_multiple_of(2))?;
        Some(TaskQueuePosition { range_hash: hash.parse().ok()?, stored_id })
    };
    read().ok_or_else(|| "is no position: take the 'next' of the list before".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_reads_back_and_anything_else_is_refused() {
        let at = TaskQueuePosition { range_hash: 42, stored_id: vec![0, 0xab, 0xff] };
        assert_eq!(shown(&at), "42:00abff");
        assert_eq!(position(&shown(&at)), Ok(at));
        for text in ["", "42", "x:00", "42:0", "42:zz", "42:é"] {
            assert!(position(text).is_err(), "{text}");
        }
    }
}
