use clap::{Args, ValueEnum};
use leasehold_locks::fence_guard::{EXAMPLE_LUA, EXAMPLE_SQL, SCHEMA_SQL};

use crate::failure::Failure;
use crate::output::Done;

/// Print what makes your own writes refuse an old fence: a table and a statement to start from, or a script.
#[derive(Debug, Args)]
pub(super) struct FenceGuard {
    /// The language of the store that you write to
    #[arg(long, value_enum, default_value_t = Dialect::Postgres)]
    dialect: Dialect,
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
            Dialect::Postgres | Dialect::Dsql => println!("{SCHEMA_SQL}\n{EXAMPLE_SQL}"),
            Dialect::Redis => println!("{EXAMPLE_LUA}"),
        }
        Ok(Done::Yes)
    }
}
