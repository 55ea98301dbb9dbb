use std::sync::Arc;

use clap::Args;
use leasehold_client::{Endpoint, HttpBackend};
use leasehold_locks::backend::BackendLocation;
use leasehold_locks::{Config, LockBackend, Locks};

use crate::connection::Connection;
use crate::failure::Failure;

/// Where the locks are, and how to print.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Where the locks are: a server (http://…), a database (postgres://…, dsql://…, redis://…) or the folder of an embedded store
    /// [default: the server of --endpoint]
    #[arg(long, value_name = "URL|PATH", env = "LEASEHOLD_BACKEND", hide_env_values = true)]
    backend: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    connection: Connection,
}

impl Target {
    pub(super) async fn locks(&self) -> Result<Locks, Failure> {
        let (endpoint, options) = self.connection.resolve()?;
        let backend = self.backend.clone().unwrap_or(endpoint);
        let backend: Arc<dyn LockBackend> =
            match backend.starts_with("http:") || backend.starts_with("https:") {
                true => Arc::new(HttpBackend::with_options(backend.parse::<Endpoint>()?, &options)?),
                false => backend.parse::<BackendLocation>()?.open().await?,
            };
        Ok(Locks::with_config(backend, Config::default()))
    }
}
