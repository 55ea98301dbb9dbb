//! What is known of each cluster, stored at the version that its writer read.

mod delete;
mod get;
mod list;
mod save;

use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::{Blob, Database, Result};

/// What is known of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMetadata {
    /// Its name.
    pub name: String,
    /// What was stored.
    pub blob: Blob,
    /// How often it was.
    pub version: i64,
}

impl ClusterMetadata {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            name: column(row, "cluster_name")?,
            blob: Blob::of(row)?,
            version: column(row, "version")?,
        })
    }
}

/// What is known of the clusters, in a database.
#[derive(Clone, Debug)]
pub struct ClusterMetadatas {
    database: Database,
}

impl ClusterMetadatas {
    /// What is known of the clusters in `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}
