//! The tables: how they are made, and whether those that are there are the ones that are wanted.
//!
//! They are Temporal's, version [`VERSION`] of them, in Temporal's own book-keeping: its servers and tools recognise a database
//! that was made here, and a database that Temporal made is used as it is.

mod apply;
mod catalogue;
mod check;
mod difference;
mod shape;
mod step;
mod version;

pub use apply::Progress;
pub use check::Report;
pub use difference::Difference;
use leasehold_txn::Dialect;
pub use step::Step;
pub use version::VERSION;

/// The tables of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    script: &'static str,
    is_dsql: bool,
}

impl Schema {
    /// The schema of a dialect.
    #[must_use]
    pub const fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres { .. } => Self { script: include_str!("sql/postgres.sql"), is_dsql: false },
            Dialect::Dsql { .. } => Self { script: include_str!("sql/dsql.sql"), is_dsql: true },
        }
    }

    /// What makes the tables, for a migration of your own. On DSQL each statement must be a transaction of its own, and the
    /// jobs of indexes are to be awaited.
    #[must_use]
    pub fn script(&self) -> String {
        let statements: Vec<String> =
            self.steps().iter().map(|step| format!("{};\n", step.sql().trim_end())).collect();
        statements.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_every_statement_and_the_version_last() {
        for dialect in [Dialect::POSTGRES, Dialect::DSQL] {
            let schema = Schema::of(dialect);
            let script = schema.script();
            for step in schema.steps() {
                assert!(script.contains(step.sql().trim_end()), "{step:?}");
            }
            let last = script.trim_end().rsplit("\n\n").next().expect("a statement");
            assert!(last.contains(VERSION), "{last}");
        }
    }
}
