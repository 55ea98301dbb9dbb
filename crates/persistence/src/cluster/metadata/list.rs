//! Lists the clusters, by name.

use leasehold_txn::Operation;

use super::{ClusterMetadata, ClusterMetadatas};
use crate::sql::Sql;
use crate::{Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_cluster_metadata");
const SELECT_PAGE: Sql = Sql::same(include_str!("sql/select_page.sql"));

impl ClusterMetadatas {
    /// A page of clusters, in the order of their names.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn list(
        &self,
        page_size: PageSize,
        token: Option<&PageToken>,
    ) -> Result<Page<ClusterMetadata>> {
        let after = token.map(PageToken::name).transpose()?.unwrap_or_default();
        let rows = self.database.read(LIST, SELECT_PAGE, &[&after, &page_size.limit()]).await?;
        let clusters = rows.iter().map(ClusterMetadata::of).collect::<Result<Vec<_>>>()?;
        Ok(Page::new(clusters, page_size, |last| Some(PageToken::from_bytes(last.name.as_bytes()))))
    }
}
