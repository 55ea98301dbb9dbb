//! Task queues and whose they are: where the key does not tell, what the owner keeps does.

use prost::Message as _;

use super::Inspector;
use super::told::of_temporal;
use crate::{Blob, ListedTaskQueue, Page, PageSize, PageToken, Result, TaskQueueKey, TaskQueues, TaskType};

/// The fields of Temporal's `TaskQueueInfo` that make its key.
#[derive(Clone, PartialEq, prost::Message)]
struct TaskQueueInfo {
    #[prost(string, tag = "1")]
    namespace_id: String,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    task_type: i32,
}

impl Inspector {
    /// The queues of [`TaskQueues::list`], or with `is_fair` those of [`TaskQueues::fair`]. On DSQL, where keys are hashed, the
    /// key is the one that the owner keeps in the queue, if it can be read.
    ///
    /// # Errors
    /// As [`TaskQueues::list`].
    pub async fn task_queues(
        &self,
        is_fair: bool,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<ListedTaskQueue>> {
        let database = self.database.clone();
        let queues = if is_fair { TaskQueues::fair(database) } else { TaskQueues::new(database) };
        let mut page = queues.list(page_size, after).await?;
        for listed in &mut page.items {
            if listed.key.is_none() {
                listed.key = key_in(&listed.queue.blob);
            }
        }
        Ok(page)
    }
}

fn key_in(blob: &Blob) -> Option<TaskQueueKey> {
    let info = TaskQueueInfo::decode(of_temporal(blob)?).ok()?;
    let task_type = match info.task_type {
        1 => TaskType::Workflow,
        2 => TaskType::Activity,
        3 => TaskType::Nexus,
        _ => return None,
    };
    TaskQueueKey::new(info.namespace_id.parse().ok()?, info.name, task_type).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `TaskQueueInfo` as Temporal's server of version 1.32.1 stored it.
    const OF_TEMPORAL: &[u8] = b"\x0a$6107eb22-31e9-4bbd-8ca6-d31e28cd6613\x12\x0e/_sys/orders/3\x18\x02 \x01:\x0c\x08\xb8\xe6\xe8\xd7\x06\x10\x94\xeb\xec\x9c\x01J\x04\x0a\x02\x08\x03P\x01";

    #[test]
    fn key_is_read_from_what_temporal_keeps() {
        let key = key_in(&Blob::proto3(OF_TEMPORAL)).expect("a key");
        assert_eq!(key.namespace_id().to_string(), "6107eb22-31e9-4bbd-8ca6-d31e28cd6613");
        assert_eq!((key.name(), key.task_type()), ("/_sys/orders/3", TaskType::Activity));
    }

    #[test]
    fn what_is_not_temporals_tells_no_key() {
        for blob in [
            Blob::proto3(vec![]),
            Blob::proto3(vec![0xff]),
            Blob::proto3(&b"\x0a\x04shop\x12\x06orders\x18\x01"[..]),
            Blob::proto3(&b"\x0a$6107eb22-31e9-4bbd-8ca6-d31e28cd6613\x12\x06orders\x18\x09"[..]),
            Blob::new(OF_TEMPORAL, "Json").expect("a blob"),
        ] {
            assert_eq!(key_in(&blob), None, "{blob:?}");
        }
    }
}
