//! The tables: how they are made, and whether those that are there are the ones that are wanted.
//!
//! They are Temporal's, version [`VERSION`] of them, in Temporal's own book-keeping: its servers and tools recognise a database
//! that was made here, and a database that Temporal made is used as it is.

mod apply;
mod catalogue;
mod check;
mod difference;
mod fence_index;
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
    has_fence_index: bool,
}

impl Schema {
    /// The schema of a dialect.
    #[must_use]
    pub const fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Postgres { .. } => {
                Self { script: include_str!("sql/postgres.sql"), is_dsql: false, has_fence_index: false }
            }
            // There the index is part of the table.
            Dialect::Dsql { .. } => {
                Self { script: include_str!("sql/dsql.sql"), is_dsql: true, has_fence_index: false }
            }
        }
    }

    /// With the unique index on `(shard_id, range_id)` that [`FenceMode::KeyShare`](crate::FenceMode::KeyShare) needs on
    /// PostgreSQL. Temporal's own tables lack it, and do not mind it.
    #[must_use]
    pub const fn with_fence_index(self) -> Self {
        Self { has_fence_index: !self.is_dsql, ..self }
    }

    /// What makes the tables, for a migration of your own. On DSQL each statement must be a transaction of its own, and the
    /// jobs of indexes are to be awaited; on PostgreSQL the index of fences must stay outside of one.
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

    #[test]
    fn index_of_fences_is_asked_for_on_postgresql_alone() {
        let has_fence = |dialect| Schema::of(dialect).with_fence_index().script().contains("CONCURRENTLY");
        assert!(has_fence(Dialect::POSTGRES));
        assert!(!has_fence(Dialect::DSQL));
        assert!(!Schema::of(Dialect::POSTGRES).script().contains("CONCURRENTLY"));
    }
}
