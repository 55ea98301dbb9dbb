use clap::Args;
use leasehold_locks::backend::postgres::{Config, PostgresBackend};
use leasehold_txn::{ConnectionString, Pool};
use serde_json::json;

use super::Face;
use super::print::Tables;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Set the tables up in a database. Those that are there already are left as they are.
#[derive(Debug, Args)]
pub(super) struct Apply {
    /// The database: postgres://…
    #[arg(long, value_name = "URL", env = "LEASEHOLD_BACKEND", hide_env_values = true)]
    backend: String,

    /// What the tables are for
    #[arg(long, value_enum, default_value_t = Face::Locks)]
    face: Face,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    tables: Tables,
}

impl Apply {
    pub(super) async fn run(self) -> Result<Done, Failure> {
        let tables = self.tables.names()?;
        let pool = Pool::new(leasehold_txn::Config::new(ConnectionString::parse(&self.backend)?))?;
        match self.face {
            Face::Locks => {
                let backend = PostgresBackend::new(pool, Config { tables, ..Config::default() });
                backend.setup_schema(self.tables.columns()).await?;
                match self.json {
                    true => print(true, &json!({ "applied": true }), String::new),
                    false => eprintln!("the tables of locks are there"),
                }
            }
        }
        Ok(Done::Yes)
    }
}
