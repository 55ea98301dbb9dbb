//! Queues between clusters and of dead letters: how many messages wait, and how far their readers are.

use std::collections::BTreeMap;

use leasehold_txn::Operation;

use super::Inspector;
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const LIST: Operation = Operation::new("state.inspect_queues");
const QUEUES: Sql = Sql::same(include_str!("sql/queues.sql"));
const NAMED_QUEUES: Sql = Sql::same(include_str!("sql/named_queues.sql"));

/// All queues of a database. There are a handful of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDepths {
    /// Queues known by their type; a negative type holds dead letters.
    pub queues: Vec<QueueDepth>,
    /// Queues known by type and name.
    pub named_queues: Vec<NamedQueueDepth>,
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

/// A queue known by type and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedQueueDepth {
    /// The type.
    pub queue_type: i32,
    /// The name.
    pub name: String,
    /// How many messages are there for a reader.
    pub depth: i64,
    /// The first message that is there for a reader.
    pub min_message_id: i64,
    /// The last message, if there ever was any.
    pub last_message_id: Option<i64>,
}

/// Temporal's `QueueMetadata`.
#[derive(Clone, PartialEq, prost::Message)]
struct AckLevels {
    #[prost(btree_map = "string, int64", tag = "1")]
    of_clusters: BTreeMap<String, i64>,
}

/// Temporal's `Queue`.
#[derive(Clone, PartialEq, prost::Message)]
struct Partitions {
    #[prost(btree_map = "int32, message", tag = "1")]
    by_number: BTreeMap<i32, Partition>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Partition {
    #[prost(int64, tag = "1")]
    min_message_id: i64,
}

impl Inspector {
    /// Every queue with its depth and how far it was read.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when what is kept of a queue cannot be read.
    pub async fn queues(&self) -> Result<QueueDepths> {
        let mut depths = QueueDepths { queues: Vec::new(), named_queues: Vec::new() };
        for row in self.database.read(LIST, QUEUES, &[]).await? {
            let version: Option<i64> = column(&row, "version")?;
            let ack_levels = match version {
                Some(_) => decode::<AckLevels>(&Blob::of(&row)?, "queue_metadata")?.of_clusters,
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
        for row in self.database.read(LIST, NAMED_QUEUES, &[]).await? {
            let blob = Blob::of_columns(&row, "metadata_payload", "metadata_encoding")?;
            let partitions = decode::<Partitions>(&blob, "queues")?.by_number;
            let min_message_id = partitions.get(&0).map_or(0, |partition| partition.min_message_id);
            let last_message_id: Option<i64> = column(&row, "last_message_id")?;
            depths.named_queues.push(NamedQueueDepth {
                queue_type: column(&row, "queue_type")?,
                name: column(&row, "queue_name")?,
                depth: last_message_id.map_or(0, |last| (last - min_message_id + 1).max(0)),
                min_message_id,
                last_message_id,
            });
        }
        Ok(depths)
    }
}

fn decode<M: prost::Message + Default>(blob: &Blob, table: &str) -> Result<M> {
    M::decode(blob.data())
        .map_err(|error| Error::Corrupt { what: format!("a row of {table}"), reason: error.to_string() })
}
