//! Lists the user data of a namespace.

use leasehold_txn::Operation;

use super::{UserData, UserDataStore};
use crate::sql::{Sql, column};
use crate::{Blob, NamespaceId, Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_user_data");
const SELECT: Sql = Sql::same(include_str!("sql/list.sql"));

/// The user data of a task queue in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUserData {
    /// The name of the queue.
    pub task_queue: String,
    /// What the user said.
    pub user_data: UserData,
}

impl UserDataStore {
    /// The user data of all task queues of a namespace, by name, from `after` on.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list(
        &self,
        namespace_id: NamespaceId,
        page_size: PageSize,
        after: Option<&PageToken>,
    ) -> Result<Page<ListedUserData>> {
        // No name is empty.
        let last = after.map_or(Ok(""), PageToken::name)?;
        let values: leasehold_txn::Parameters<'_> = &[&namespace_id, &last, &page_size.limit()];
        let rows = self.database.read(LIST, SELECT, values).await?;
        let listed = rows.iter().map(|row| {
            Ok(ListedUserData {
                task_queue: column(row, "task_queue_name")?,
                user_data: UserData { version: column(row, "version")?, blob: Blob::of(row)? },
            })
        });
        let token = |last: &ListedUserData| Some(PageToken::from_bytes(last.task_queue.as_bytes()));
        Ok(Page::new(listed.collect::<Result<_>>()?, page_size, token))
    }
}
