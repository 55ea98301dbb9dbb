use std::fmt::Write as _;

use clap::Args;
use leasehold_persistence::{Inspector, ListedTaskQueue, PageSize, PageToken, TaskQueueKey, TaskType};
use serde_json::{Value, json};

use super::target::Target;
use crate::failure::Failure;
use crate::output::{Done, print};
use crate::table::Table;

/// List task queues with the range of whoever leases them.
///
/// On DSQL the key is a hash of the name, which is then known from what Temporal keeps in the queue; else it is shown as '?'.
#[derive(Debug, Args)]
pub(super) struct TaskQueues {
    /// Those whose tasks come in passes: Temporal's second pair of tables
    #[arg(long)]
    fair: bool,

    /// Only those after this one: the 'next' of the list before
    #[arg(long, value_name = "POSITION", value_parser = position)]
    after: Option<PageToken>,

    /// At most so many
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

impl TaskQueues {
    pub(super) async fn run(self, target: &Target) -> Result<Done, Failure> {
        let page_size = PageSize::new(self.limit.into())?;
        let inspector = Inspector::new(target.database().await?);
        let page = inspector.task_queues(self.fair, page_size, self.after.as_ref()).await?;
        let next = page.next.as_ref().map(shown);
        let listed: Vec<Value> = page.items.iter().map(listed).collect();
        print(target.json, &json!({ "task_queues": listed, "next": next }), || {
            let mut table = Table::new(&["RANGE", "TYPE", "NAMESPACE", "NAME"]);
            for listed in &page.items {
                let range_id = listed.queue.range_id;
                match &listed.key {
                    Some(key) => table.row([&range_id, &task_type(key), &key.namespace_id(), &key.name()]),
                    None => table.row([&range_id, &"?", &"?", &"?"]),
                }
            }
            match &next {
                Some(next) => format!("{table}\nthere may be more: --after {next}"),
                None => table.to_string(),
            }
        })?;
        Ok(Done::Yes)
    }
}

fn listed(listed: &ListedTaskQueue) -> Value {
    let key = listed.key.as_ref();
    json!({
        "range_id": listed.queue.range_id,
        "namespace_id": key.map(|key| key.namespace_id().to_string()),
        "name": key.map(TaskQueueKey::name),
        "type": key.map(task_type),
    })
}

fn task_type(key: &TaskQueueKey) -> &'static str {
    match key.task_type() {
        TaskType::Workflow => "workflow",
        TaskType::Activity => "activity",
        TaskType::Nexus => "nexus",
    }
}

/// A token as text that can be typed.
fn shown(token: &PageToken) -> String {
    token.as_bytes().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn position(text: &str) -> Result<PageToken, String> {
    let digits = text.as_bytes();
    let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    match bytes.collect::<Option<Vec<u8>>>() {
        Some(bytes) if digits.len().is_multiple_of(2) => Ok(PageToken::from_bytes(bytes)),
        _ => Err("is no position: take the 'next' of the list before".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_reads_back_and_anything_else_is_refused() {
        let token = PageToken::from_bytes(vec![0, 0xab, 0xff]);
        assert_eq!(shown(&token), "00abff");
        assert_eq!(position(&shown(&token)), Ok(token));
        for text in ["0", "zz", "0é"] {
            assert!(position(text).is_err(), "{text}");
        }
    }
}
