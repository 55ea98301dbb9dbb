//! Finds what is known of a cluster.

use leasehold_txn::Operation;

use super::{ClusterMetadata, ClusterMetadatas};
use crate::sql::Sql;
use crate::{Error, Result};

const GET: Operation = Operation::new("state.get_cluster_metadata");
const SELECT: Sql = Sql::same(include_str!("sql/select.sql"));

impl ClusterMetadatas {
    /// What is known of a cluster.
    ///
    /// # Errors
    /// [`Error::NotFound`] when nothing is.
    pub async fn get(&self, name: &str) -> Result<ClusterMetadata> {
        let rows = self.database.read(GET, SELECT, &[&name]).await?;
        ClusterMetadata::of(rows.first().ok_or(Error::NotFound { what: "cluster" })?)
    }
}
