use clap::Args;
use leasehold_persistence::{Config, Database, FenceMode};
use leasehold_txn::{ConnectionString, Pool};

use crate::failure::Failure;

/// Which database, and how to print.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The database: postgres://…, dsql://…
    #[arg(long, value_name = "URL", env = "LEASEHOLD_STATE_STORE", hide_env_values = true, global = true)]
    store: Option<String>,

    /// Print JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
}

impl Target {
    pub(super) async fn database(&self) -> Result<Database, Failure> {
        let Some(store) = &self.store else {
            return Err(Failure::input("name the database with --store or LEASEHOLD_STATE_STORE"));
        };
        let connection = ConnectionString::parse(store)?;
        let config = leasehold_txn::Config::new(connection).size_max(1).application_name("leasehold state");
        let pool = Pool::new(config)?;
        // Nothing is written, so nothing is fenced: the one mode that every database has.
        let config = Config { fence_mode: Some(FenceMode::Update), ..Config::new(pool.dialect()) };
        Ok(Database::open(pool, config).await?)
    }
}
