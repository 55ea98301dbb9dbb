//! A database of a test's own.

use super::{Cluster, cluster::connect};
use crate::{Error, Result};

/// A fresh database. Dropping the handle drops the database in the background, with the sessions still in it, so
/// keep the handle for as long as the url is used.
#[derive(Debug)]
#[must_use = "the database goes with its handle"]
pub struct Database {
    name: String,
    url: String,
    admin_url: String,
}

impl Database {
    pub(super) async fn create(cluster: &Cluster, name: String) -> Result<Database> {
        let admin = cluster.admin().await?;
        // template0 never has sessions in it, which would make the copy fail.
        admin
            .batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0"))
            .await
            .map_err(|source| Error::Statement { action: "create a database", source })?;
        let url = cluster.url(&name);
        Ok(Database { name, url, admin_url: cluster.url("postgres") })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its connection string.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    /// On a thread of its own, because the test's runtime may be ending. Best effort: what is not dropped goes with
    /// the cluster.
    fn drop(&mut self) {
        let (url, name) = (self.admin_url.clone(), self.name.clone());
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                if let Ok(admin) = connect(&url).await {
                    let _ = admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
                }
            });
        });
    }
}
