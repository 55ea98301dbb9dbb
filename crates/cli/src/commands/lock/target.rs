use std::sync::Arc;

use clap::Args;
use leasehold_client::{Endpoint, HttpBackend};
use leasehold_locks::backend::BackendLocation;
use leasehold_locks::{Config, LockBackend, Locks};

use crate::failure::Failure;

/// Where the locks are, and how to print.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Where the locks are: a server (http://…), a database (postgres://…, redis://…) or the folder of an embedded store
    #[arg(
        long,
        value_name = "URL|PATH",
        env = "LEASEHOLD_BACKEND",
        hide_env_values = true,
        default_value = "http://127.0.0.1:2319"
    )]
    backend: String,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Target {
    pub(super) async fn locks(&self) -> Result<Locks, Failure> {
        let backend: Arc<dyn LockBackend> = match self.backend.starts_with("http:") {
            true => Arc::new(HttpBackend::new(self.backend.parse::<Endpoint>()?)),
            false => self.backend.parse::<BackendLocation>()?.open().await?,
        };
        Ok(Locks::with_config(backend, Config::default()))
    }
}
