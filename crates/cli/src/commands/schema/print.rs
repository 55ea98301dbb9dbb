use clap::Args;
use leasehold_core::postgres::TableNames;
use leasehold_locks::backend::postgres::OptionalColumns;
use leasehold_locks::backend::{dsql, postgres};
use leasehold_persistence::Schema;
use serde_json::json;

use super::Face;
use super::database::Dialect;
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

    /// For tables whose names are Temporal's.
    pub(super) fn only_for_locks(&self) -> Result<(), Failure> {
        let names = (self.table_name.as_str(), self.fence_table_name.as_str());
        match names == (TableNames::DEFAULT_LOCKS, TableNames::DEFAULT_FENCES) && !self.optional_columns {
            true => Ok(()),
            false => Err(Failure::input(
                "--table-name, --fence-table-name and --optional-columns are only for --face locks",
            )),
        }
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
        let script = match (self.face, self.dialect) {
            (Face::Locks, Dialect::Postgres) => {
                postgres::setup_sql(&self.tables.names()?, self.tables.columns())
            }
            (Face::Locks, Dialect::Dsql) => {
                self.tables.no_columns()?;
                dsql::setup_sql(&self.tables.names()?)
            }
            (Face::State, dialect) => {
                self.tables.only_for_locks()?;
                Schema::of(dialect.into()).script()
            }
        };
        print(self.json, &json!({ "sql": script }), || script.clone())?;
        Ok(Done::Yes)
    }
}
