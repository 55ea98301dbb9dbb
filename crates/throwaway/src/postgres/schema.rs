//! A schema of a test's own.

use super::{Cluster, cluster::connect, database};
use crate::{Error, Result};

/// The server looks at all functions of a name, in whichever schema, before it knows which is meant: with hundreds of schemas
/// in one database that took a test most of its time.
const SCHEMAS_PER_DATABASE: u32 = 8;

/// The database that takes the next schemas.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    database: String,
    taken: u32,
    databases: u32,
}

impl Shelf {
    /// The name of a database with room for one more schema.
    async fn take(&mut self, cluster: &Cluster) -> Result<String> {
        if self.databases == 0 || self.taken == SCHEMAS_PER_DATABASE {
            let name = format!("schemas_{}", self.databases);
            database::copy(cluster, &name, "template0").await?;
            *self = Shelf { database: name, taken: 0, databases: self.databases + 1 };
        }
        self.taken += 1;
        Ok(self.database.clone())
    }
}

/// A fresh schema; stays until its cluster goes.
#[derive(Debug)]
pub struct Schema {
    name: String,
    url: String,
}

impl Schema {
    pub(super) async fn create(cluster: &Cluster, name: String) -> Result<Schema> {
        let database = cluster.shelf().lock().await.take(cluster).await?;
        let url = cluster.url(&database);
        connect(&url)
            .await?
            .batch_execute(&format!("CREATE SCHEMA {name}"))
            .await
            .map_err(|source| Error::Statement { action: "create a schema", source })?;
        // The url encoding of `-c search_path=<name>`.
        let url = format!("{url}?options=-c%20search_path%3D{name}");
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
