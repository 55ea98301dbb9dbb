//! Lists the namespaces, by id.

use leasehold_txn::Operation;

use super::{Namespace, Namespaces};
use crate::sql::Sql;
use crate::{NamespaceId, Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_namespaces");
const SELECT_PAGE: Sql = Sql::same(include_str!("sql/select_page.sql"));

impl Namespaces {
    /// A page of namespaces, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list(&self, page_size: PageSize, token: Option<&PageToken>) -> Result<Page<Namespace>> {
        let after = token.map(PageToken::id).transpose()?.map(NamespaceId::from_bytes);
        let rows = self.database.read(LIST, SELECT_PAGE, &[&after, &page_size.limit()]).await?;
        let namespaces = rows.iter().map(Namespace::of).collect::<Result<Vec<_>>>()?;
        Ok(Page::new(namespaces, page_size, |last| Some(PageToken::from_bytes(*last.record.id.as_bytes()))))
    }
}
