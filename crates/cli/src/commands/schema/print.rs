use clap::{Args, ValueEnum};
use leasehold_core::postgres::TableNames;
use leasehold_locks::backend::postgres::OptionalColumns;
use leasehold_locks::backend::{dsql, postgres};
use serde_json::json;

use super::Face;
use crate::failure::Failure;
use crate::output::{Done, print};

/// Print the SQL that sets the tables up, for your migrations. Running it twice does no harm.
#[derive(Debug, Args)]
pub(super) struct Print {
    /// What the tables are for
    #[arg(long, value_enum, default_value_t = Face::Locks)]
    face: Face,

    /// The database that they are for
    #[arg(long, value_enum, default_value_t = Dialect::Postgres)]
    dialect: Dialect,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    pub(super) tables: Tables,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Dialect {
    Postgres,
    /// To be run one statement per transaction
    Dsql,
}

/// The names of the tables, and what is in them.
#[derive(Debug, Args)]
pub(super) struct Tables {
    /// The table of locks
    #[arg(long, value_name = "NAME", default_value = TableNames::DEFAULT_LOCKS)]
    table_name: String,

    /// The table of fence counters
    #[arg(long, value_name = "NAME", default_value = TableNames::DEFAULT_FENCES)]
    fence_table_name: String,

    /// Add the generated columns that show times as timestamps
    #[arg(long)]
    optional_columns: bool,
}

impl Tables {
    pub(super) fn names(&self) -> Result<TableNames, Failure> {
        Ok(TableNames::parse(&self.table_name, &self.fence_table_name)
            .map_err(leasehold_locks::Error::from)?)
    }

    /// For a database that has no generated columns.
    pub(super) fn no_columns(&self) -> Result<(), Failure> {
        match self.optional_columns {
            true => Err(Failure::input("--optional-columns is only for PostgreSQL")),
            false => Ok(()),
        }
    }

    pub(super) fn columns(&self) -> OptionalColumns {
        if self.optional_columns { OptionalColumns::With } else { OptionalColumns::Without }
    }
}

impl Print {
    pub(super) fn run(self) -> Result<Done, Failure> {
        let tables = self.tables.names()?;
        let script = match (self.face, self.dialect) {
            (Face::Locks, Dialect::Postgres) => postgres::setup_sql(&tables, self.tables.columns()),
            (Face::Locks, Dialect::Dsql) => {
                self.tables.no_columns()?;
                dsql::setup_sql(&tables)
            }
        };
        print(self.json, &json!({ "sql": script }), || script.clone());
        Ok(Done::Yes)
    }
}
