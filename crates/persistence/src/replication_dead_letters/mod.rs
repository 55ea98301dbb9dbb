//! Replication tasks that could not be applied, kept by the cluster they came from until somebody looks at them.

mod delete;
mod get;
mod is_empty;
mod put;

use crate::shard::ShardId;
use crate::{Database, Result, bounds};

/// The replication tasks of a shard that came from one cluster and could not be applied.
#[derive(Clone, Debug)]
pub struct ReplicationDeadLetters {
    database: Database,
    source_cluster: String,
    shard_id: ShardId,
}

impl ReplicationDeadLetters {
    /// Those of a shard in `database` that came from a cluster.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the name is empty, too long, or has a zero byte in it.
    pub fn new(database: Database, source_cluster: impl Into<String>, shard_id: ShardId) -> Result<Self> {
        let source_cluster = source_cluster.into();
        bounds::name("source_cluster", &source_cluster)?;
        Ok(Self { database, source_cluster, shard_id })
    }
}
