//! Lists the endpoints, by id, and the version of the table at which they are so.

use leasehold_txn::Operation;

use super::table_version::differs;
use super::{Endpoint, Endpoints};
use crate::sql::{Sql, column};
use crate::{EndpointId, Error, Page, PageSize, PageToken, Result};

const LIST: Operation = Operation::new("state.list_nexus_endpoints");
const SELECT_PAGE: Sql = Sql::same(include_str!("sql/select_page.sql"));

/// A part of the list, as it is at one version of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPage {
    /// The version.
    pub table_version: i64,
    /// The part.
    pub page: Page<Endpoint>,
}

impl Endpoints {
    /// A page of endpoints, in the order of their ids. Pages of one list are of one version of the table if each
    /// after the first is asked for with the version that came with the first; 0 takes whatever is there.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version differs from the one that was asked for, [`Error::InvalidRequest`] when
    /// the token is not of this list.
    pub async fn list(
        &self,
        page_size: PageSize,
        token: Option<&PageToken>,
        table_version: i64,
    ) -> Result<EndpointPage> {
        let after = token.map(PageToken::id).transpose()?.map(EndpointId::from_bytes);
        // One statement, so that version and endpoints are of one snapshot.
        let rows = self.database.read(LIST, SELECT_PAGE, &[&after, &page_size.limit()]).await?;
        let first = rows.first().ok_or(Error::Missing { what: "the page of nexus endpoints" })?;
        let actual: i64 = column(first, "table_version")?;
        if table_version != 0 && table_version != actual {
            return Err(differs(table_version, Some(actual)));
        }
        let is_empty = column::<Option<EndpointId>>(first, "id")?.is_none();
        let rows = if is_empty { &[] } else { rows.as_slice() };
        let endpoints = rows.iter().map(Endpoint::of).collect::<Result<Vec<_>>>()?;
        let page = Page::new(endpoints, page_size, |last| Some(PageToken::from_bytes(*last.id.as_bytes())));
        Ok(EndpointPage { table_version: actual, page })
    }
}
