//! Queues between clusters and of dead letters: how many messages wait, and how far their readers are.

use std::collections::BTreeMap;

use leasehold_txn::Operation;

use super::Inspector;
use crate::queue::clusters::of_clusters;
use crate::sql::{Sql, column};
use crate::{Blob, NamedQueue, NamedQueues, PageSize, Result};

const LIST: Operation = Operation::new("state.inspect_queues");
const QUEUES: Sql = Sql::same(include_str!("sql/queues.sql"));
const TYPES: Sql = Sql::same(include_str!("sql/queue_types.sql"));

/// All queues of a database. There are a handful of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDepths {
    /// Queues known by their type; a negative type holds dead letters.
    pub queues: Vec<QueueDepth>,
    /// Queues known by type and name.
    pub named_queues: Vec<NamedQueue>,
}

/// A queue known by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDepth {
    /// The type; negative for dead letters.
    pub queue_type: i32,
    /// How many messages are stored.
    pub depth: i64,
    /// The last message, if there is any.
    pub last_message_id: Option<i64>,
    /// The last message that each cluster has done with.
    pub ack_levels: BTreeMap<String, i64>,
    /// The token of whoever moves an ack level.
    pub version: Option<i64>,
}

impl Inspector {
    /// Every queue with its depth and how far it was read.
    ///
    /// # Errors
    /// [`Error::Corrupt`](crate::Error::Corrupt) when what is kept of a queue cannot be read.
    pub async fn queues(&self) -> Result<QueueDepths> {
        let mut depths = QueueDepths { queues: Vec::new(), named_queues: Vec::new() };
        for row in self.database.read(LIST, QUEUES, &[]).await? {
            let version: Option<i64> = column(&row, "version")?;
            let ack_levels = match version {
                Some(_) => of_clusters(&Blob::of(&row)?)?,
                None => BTreeMap::new(),
            };
            depths.queues.push(QueueDepth {
                queue_type: column(&row, "queue_type")?,
                depth: column(&row, "depth")?,
                last_message_id: column(&row, "last_message_id")?,
                ack_levels,
                version,
            });
        }
        let named_queues = NamedQueues::new(self.database.clone());
        for row in self.database.read(LIST, TYPES, &[]).await? {
            let mut token = None;
            loop {
                let page =
                    named_queues.list(column(&row, "queue_type")?, PageSize::MAX, token.as_ref()).await?;
                depths.named_queues.extend(page.items);
                token = page.next;
                if token.is_none() {
                    break;
                }
            }
        }
        Ok(depths)
    }
}
