//! Which task queues know a build.

use leasehold_txn::Operation;

use super::UserDataStore;
use crate::sql::{Sql, column};
use crate::{Error, NamespaceId, Result};

const LIST: Operation = Operation::new("state.list_task_queues_by_build_id");
const COUNT: Operation = Operation::new("state.count_task_queues_by_build_id");
const SELECT: Sql = Sql::same(include_str!("sql/select_by_build_id.sql"));
const SELECT_COUNT: Sql = Sql::same(include_str!("sql/count_by_build_id.sql"));

impl UserDataStore {
    /// The names of the task queues of a namespace that know a build, in order.
    ///
    /// # Errors
    /// As every read.
    pub async fn task_queues_by_build_id(
        &self,
        namespace_id: NamespaceId,
        build_id: &str,
    ) -> Result<Vec<String>> {
        let rows = self.database.read(LIST, SELECT, &[&namespace_id, &build_id]).await?;
        rows.iter().map(|row| column(row, "task_queue_name")).collect()
    }

    /// How many those are.
    ///
    /// # Errors
    /// As every read.
    pub async fn count_task_queues_by_build_id(
        &self,
        namespace_id: NamespaceId,
        build_id: &str,
    ) -> Result<i64> {
        let rows = self.database.read(COUNT, SELECT_COUNT, &[&namespace_id, &build_id]).await?;
        rows.first().map_or(Err(Error::Missing { what: "a count" }), |row| column(row, "task_queues"))
    }
}
