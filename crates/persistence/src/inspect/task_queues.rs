//! Task queues and who leases them, by range.

use std::error::Error as StdError;

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::types::private::BytesMut;
use leasehold_txn::tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use super::Inspector;
use crate::sql::{Sql, column};
use crate::{NamespaceId, PageSize, Result};

const LIST: Operation = Operation::new("state.inspect_task_queues");
const TASK_QUEUES: Sql = Sql::same(include_str!("sql/task_queues.sql"));
const TASK_QUEUES_V2: Sql = Sql::same(include_str!("sql/task_queues_v2.sql"));

/// Which of Temporal's two pairs of tables a task queue is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskQueueGeneration {
    /// `task_queues` and `tasks`.
    First,
    /// `task_queues_v2` and `tasks_v2`, in which tasks have a pass.
    Second,
}

/// Where a list of task queues goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueuePosition {
    /// The hash.
    pub range_hash: i64,
    /// The id as it is stored.
    pub stored_id: Vec<u8>,
}

/// A task queue, and the range of whoever leases it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueueLease {
    /// Where it stands in the list.
    pub position: TaskQueuePosition,
    /// The fence of its owner.
    pub range_id: i64,
    /// What the stored id says; nothing on DSQL, where a hash of it is stored.
    pub name: Option<TaskQueueName>,
}

/// What the id of a task queue is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueueName {
    /// The namespace.
    pub namespace_id: NamespaceId,
    /// The name.
    pub name: String,
    /// Temporal's number of the type: 1 for workflows, 2 for activities.
    pub task_type: u8,
}

impl Inspector {
    /// The task queues behind `after`, in the order of their keys.
    ///
    /// # Errors
    /// As every read.
    pub async fn task_queues(
        &self,
        generation: TaskQueueGeneration,
        after: Option<&TaskQueuePosition>,
        page_size: PageSize,
    ) -> Result<Vec<TaskQueueLease>> {
        let sql = match generation {
            TaskQueueGeneration::First => TASK_QUEUES,
            TaskQueueGeneration::Second => TASK_QUEUES_V2,
        };
        let hash = after.map(|after| after.range_hash);
        let id = after.map(|after| StoredId(after.stored_id.clone()));
        let rows = self.database.read(LIST, sql, &[&hash, &id, &page_size.limit()]).await?;
        rows.iter()
            .map(|row| {
                let stored_id = column::<StoredId>(row, "task_queue_id")?.0;
                Ok(TaskQueueLease {
                    range_id: column(row, "range_id")?,
                    name: if self.database.is_dsql() { None } else { name(&stored_id) },
                    position: TaskQueuePosition { range_hash: column(row, "range_hash")?, stored_id },
                })
            })
            .collect()
    }
}

/// 16 bytes of the namespace, the name, and a byte for the type. Parts of a queue have no lease, and so no row.
fn name(stored_id: &[u8]) -> Option<TaskQueueName> {
    let (namespace_id, rest) = stored_id.split_first_chunk::<16>()?;
    let (task_type, name) = rest.split_last()?;
    Some(TaskQueueName {
        namespace_id: NamespaceId::from_bytes(*namespace_id),
        name: std::str::from_utf8(name).ok()?.to_owned(),
        task_type: *task_type,
    })
}

/// An id as the column keeps it: `bytea` on PostgreSQL, `uuid` on DSQL.
#[derive(Debug)]
struct StoredId(Vec<u8>);

impl ToSql for StoredId {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    accepts!(BYTEA, UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for StoredId {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    accepts!(BYTEA, UUID);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_read_from_the_stored_id() {
        let read = name(b"0123456789abcdeforders\x02").expect("a name");
        assert_eq!((read.name.as_str(), read.task_type), ("orders", 2));
        assert_eq!(read.namespace_id.as_bytes(), b"0123456789abcdef");
        for short in [&b""[..], b"0123456789abcdef", b"0123456789abcdef\xff\xff\x01"] {
            assert_eq!(name(short), None);
        }
    }
}
