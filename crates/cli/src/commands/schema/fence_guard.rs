use clap::{Args, ValueEnum};
use leasehold_locks::fence_guard::{EXAMPLE_LUA, EXAMPLE_SQL, SCHEMA_SQL};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Done, print};

/// Print what makes your own writes refuse an old fence: a table and a statement to start from, or a script.
#[derive(Debug, Args)]
pub(super) struct FenceGuard {
    /// The language of the store that you write to
    #[arg(long, value_enum, default_value_t = Dialect::Postgres)]
    dialect: Dialect,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Dialect {
    Postgres,
    Dsql,
    Redis,
}

impl FenceGuard {
    pub(super) fn run(self) -> Result<Done, Failure> {
        match self.dialect {
            // One statement each, no lock and no function: both databases take it.
            Dialect::Postgres | Dialect::Dsql => {
                let answer = json!({ "schema_sql": SCHEMA_SQL, "example_sql": EXAMPLE_SQL });
                print(self.json, &answer, || format!("{SCHEMA_SQL}\n{EXAMPLE_SQL}"))?;
            }
            Dialect::Redis => {
                print(self.json, &json!({ "example_lua": EXAMPLE_LUA }), || EXAMPLE_LUA.to_owned())?;
            }
        }
        Ok(Done::Yes)
    }
}
