//! A schema of a test's own.

use super::Cluster;
use crate::{Error, Result};

/// A fresh schema; stays until its cluster goes.
#[derive(Debug)]
pub struct Schema {
    name: String,
    url: String,
}

impl Schema {
    pub(super) async fn create(cluster: &Cluster, name: String) -> Result<Schema> {
        let admin = cluster.admin().await?;
        admin
            .batch_execute(&format!("CREATE SCHEMA {name}"))
            .await
            .map_err(|source| Error::Statement { action: "create a schema", source })?;
        // The url encoding of `-c search_path=<name>`.
        let url = format!("{}?options=-c%20search_path%3D{name}", cluster.url("postgres"));
        Ok(Schema { name, url })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection string whose sessions see this schema and no other.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
