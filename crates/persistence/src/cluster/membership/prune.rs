//! Forgets hosts that are gone.

use leasehold_txn::Operation;

use super::Membership;
use crate::sql::Sql;
use crate::{Error, Result};

const PRUNE: Operation = Operation::new("state.prune_cluster_members");
const DELETE_EXPIRED: Sql = Sql::same(include_str!("sql/delete_expired.sql"));

impl Membership {
    /// Forgets at most `limit` hosts whose time is over; how many. Many take several transactions.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the limit is 0.
    pub async fn prune(&self, limit: u32) -> Result<u64> {
        if limit == 0 {
            return Err(Error::invalid("limit", "must be above 0".to_owned()));
        }
        self.database.delete_in_batches(PRUNE, DELETE_EXPIRED, &[], limit.into()).await
    }
}
