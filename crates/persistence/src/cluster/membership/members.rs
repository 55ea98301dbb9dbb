//! Finds the hosts that are there.

use std::time::Duration;

use leasehold_txn::Operation;

use super::{ClusterMember, MemberFilter, Membership, micros};
use crate::sql::Sql;
use crate::time::Stored;
use crate::{HostId, Page, PageSize, PageToken, Result};

const GET_MEMBERS: Operation = Operation::new("state.get_cluster_members");
const SELECT_PAGE: Sql = Sql::same(include_str!("sql/select_page.sql"));
/// No database has heard of anybody for longer, and its timestamps do not go back for ever: 1,000 years.
const HEARD_WITHIN_MAX: Duration = Duration::from_secs(1_000 * 366 * 24 * 60 * 60);

impl Membership {
    /// A page of the hosts that pass the filter, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn members(
        &self,
        filter: &MemberFilter,
        page_size: PageSize,
        token: Option<&PageToken>,
    ) -> Result<Page<ClusterMember>> {
        let after = token.map(PageToken::id).transpose()?.map(HostId::from_bytes);
        let MemberFilter { host_id, rpc_address, role, heard_within, joined_since } = filter;
        let heard_within = heard_within.map(|time| micros(time.min(HEARD_WITHIN_MAX)));
        let joined_since = joined_since.map(Stored);
        let values: leasehold_txn::Parameters<'_> =
            &[host_id, rpc_address, role, &heard_within, &joined_since, &after, &page_size.limit()];
        let rows = self.database.read(GET_MEMBERS, SELECT_PAGE, values).await?;
        let members = rows.iter().map(ClusterMember::of).collect::<Result<Vec<_>>>()?;
        Ok(Page::new(members, page_size, |last| Some(PageToken::from_bytes(*last.host_id.as_bytes()))))
    }
}
