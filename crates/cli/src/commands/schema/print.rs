use clap::Args;
use leasehold_core::postgres::TableNames;
use leasehold_locks::backend::postgres::{OptionalColumns, setup_sql};
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

    pub(super) fn columns(&self) -> OptionalColumns {
        if self.optional_columns { OptionalColumns::With } else { OptionalColumns::Without }
    }
}

impl Print {
    pub(super) fn run(self) -> Result<Done, Failure> {
        match self.face {
            Face::Locks => {
                let sql = setup_sql(&self.tables.names()?, self.tables.columns());
                print(self.json, &json!({ "sql": sql }), || sql.clone());
            }
        }
        Ok(Done::Yes)
    }
}
