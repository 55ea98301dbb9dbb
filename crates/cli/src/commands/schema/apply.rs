use clap::Args;
use leasehold_locks::backend::dsql::{self, DsqlBackend};
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
    /// The database: postgres://…, dsql://…
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
        let connection = ConnectionString::parse(&self.backend)?;
        let is_dsql = connection.is_dsql();
        let pool = Pool::new(leasehold_txn::Config::new(connection))?;
        match self.face {
            Face::Locks if is_dsql => {
                self.tables.no_columns()?;
                let backend = DsqlBackend::new(pool, dsql::Config { tables, ..dsql::Config::default() });
                backend.setup_schema().await?;
                eprintln!("the table of locks is there");
            }
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
