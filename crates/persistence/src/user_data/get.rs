//! Finds the user data of a task queue.

use leasehold_txn::Operation;

use super::{UserData, UserDataStore};
use crate::sql::{Sql, column};
use crate::{Blob, Error, NamespaceId, Result};

const GET: Operation = Operation::new("state.get_user_data");
const SELECT: Sql = Sql::same(include_str!("sql/select.sql"));

impl UserDataStore {
    /// The user data of a task queue.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub async fn get(&self, namespace_id: NamespaceId, task_queue: &str) -> Result<UserData> {
        let rows = self.database.read(GET, SELECT, &[&namespace_id, &task_queue]).await?;
        let row = rows.first().ok_or(Error::NotFound { what: "user data of a task queue" })?;
        Ok(UserData { version: column(row, "version")?, blob: Blob::of(row)? })
    }
}
