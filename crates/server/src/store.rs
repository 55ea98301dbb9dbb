use std::time::Duration;

use leasehold_txn::{Operation, Policy, Pool, Registry, Statement};

use crate::{Result, StoreLocation};

/// How long a store may take to answer the health check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

const CHECK: Statement<'_> = Statement::read(Operation::new("server.check"), "SELECT 1");

/// The open store behind every face.
#[derive(Clone)]
pub(crate) enum Store {
    Memory,
    Embedded(leasehold_embedded::Store),
    Postgres(Pool),
}

impl Store {
    /// Opens what can be opened without the network: a database that is down now may come back, so it does not
    /// keep the server from starting.
    pub(crate) async fn open(location: &StoreLocation) -> Result<Self> {
        match location {
            StoreLocation::Memory => Ok(Store::Memory),
            StoreLocation::Folder(folder) => {
                let folder = folder.clone();
                let opened =
                    tokio::task::spawn_blocking(move || leasehold_embedded::Store::open(folder)).await;
                Ok(Store::Embedded(opened.expect("opening the store does not panic")?))
            }
            StoreLocation::Postgres(connection) => {
                let config = leasehold_txn::Config::new((**connection).clone());
                Ok(Store::Postgres(Registry::of_process().pool(config)?))
            }
        }
    }

    /// Whether the store answers now. The reason goes to the log, not to whoever asked.
    pub(crate) async fn is_healthy(&self) -> bool {
        match tokio::time::timeout(CHECK_TIMEOUT, self.check()).await {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    code = error.code(),
                    "store check failed"
                );
                false
            }
            Err(_elapsed) => {
                tracing::warn!(timeout = ?CHECK_TIMEOUT, "store check timed out");
                false
            }
        }
    }

    async fn check(&self) -> Result<()> {
        match self {
            Store::Memory => Ok(()),
            Store::Embedded(store) => {
                let store = store.clone();
                let checked = tokio::task::spawn_blocking(move || store.check()).await;
                Ok(checked.expect("checking the store does not panic")?)
            }
            Store::Postgres(pool) => Ok(CHECK.execute(pool, &Policy::none(), &[]).await.map(drop)?),
        }
    }
}
