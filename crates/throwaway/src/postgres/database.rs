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
    /// The template must have no sessions in it, which would make the copy fail.
    pub(super) async fn create(cluster: &Cluster, name: String, template: &str) -> Result<Database> {
        copy(cluster, &name, template).await?;
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

/// Makes a database that stays until its cluster goes. Files are copied as files: the other way writes each page to the log.
pub(super) async fn copy(cluster: &Cluster, name: &str, template: &str) -> Result<()> {
    let admin = cluster.admin().await?;
    let sql = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy");
    let failed = |source| Error::Statement { action: "create a database", source };
    admin.batch_execute(&sql).await.map_err(failed)
}

/// A database that nobody uses and nobody can connect to any more, so that copies can be made of it, many at once.
#[derive(Debug)]
pub struct Original(Database);

impl Original {
    /// Ends all sessions and lets no others in. It owns the database because two who close it at once would be refused.
    pub(super) async fn close(cluster: &Cluster, database: Database) -> Result<Original> {
        let failed = |source| Error::Statement { action: "close a database", source };
        let (admin, name) = (cluster.admin().await?, database.name());
        let close = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false");
        admin.batch_execute(&close).await.map_err(failed)?;
        // With a time to wait, it answers when the session is gone.
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1";
        admin.query(end, &[&name]).await.map_err(failed)?;
        Ok(Original(database))
    }

    pub(super) fn name(&self) -> &str {
        self.0.name()
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
