//! The statements of a schema, one after the other.

use super::version::VERSION_SQL;
use super::{Schema, VERSION};

/// One statement of a schema, idempotent. Each is a transaction of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub(super) kind: Kind,
    name: &'static str,
    sql: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Table,
    Index,
    /// The row of `namespace_metadata`.
    Seed,
    Version,
}

impl Step {
    /// What is made: `table`, `index`, `row` or `version`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.kind {
            Kind::Table => "table",
            Kind::Index => "index",
            Kind::Seed => "row",
            Kind::Version => "version",
        }
    }

    /// The name of the table, the index, the table of the row, or the version.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The statement, without a semicolon.
    #[must_use]
    pub const fn sql(&self) -> &'static str {
        self.sql
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind(), self.name)
    }
}

impl Schema {
    /// All statements, in order. The version comes last: a database that has it has all the others.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let statements = self.script.split(";\n").map(without_comments);
        let mut steps: Vec<Step> = statements.filter(|sql| !sql.is_empty()).map(step).collect();
        steps.push(Step { kind: Kind::Version, name: VERSION, sql: VERSION_SQL });
        steps
    }
}

fn step(sql: &'static str) -> Step {
    let (kind, after) = if sql.starts_with("INSERT INTO ") {
        (Kind::Seed, "INSERT INTO ")
    } else if sql.starts_with("CREATE TABLE ") {
        (Kind::Table, "IF NOT EXISTS ")
    } else {
        (Kind::Index, "IF NOT EXISTS ")
    };
    let name = sql.split_once(after).and_then(|(_, rest)| rest.split_whitespace().next());
    Step { kind, name: name.unwrap_or_default(), sql }
}

/// The statement behind the comments before it.
pub(super) fn without_comments(statement: &'static str) -> &'static str {
    let mut rest = statement.trim_start();
    while let Some(comment) = rest.strip_prefix("--") {
        rest = comment.split_once('\n').map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

#[cfg(test)]
mod tests {
    use leasehold_txn::Dialect;

    use super::*;

    fn names(dialect: Dialect, kind: Kind) -> Vec<&'static str> {
        let steps = Schema::of(dialect).steps();
        steps.iter().filter(|step| step.kind == kind).map(Step::name).collect()
    }

    #[test]
    fn both_dialects_make_the_same_tables_and_indexes() {
        for kind in [Kind::Table, Kind::Index, Kind::Seed, Kind::Version] {
            assert_eq!(names(Dialect::POSTGRES, kind), names(Dialect::DSQL, kind));
        }
        assert_eq!(names(Dialect::POSTGRES, Kind::Table).len(), 39);
        assert_eq!(names(Dialect::POSTGRES, Kind::Index).len(), 5);
        assert_eq!(names(Dialect::POSTGRES, Kind::Seed), ["namespace_metadata"]);
    }

    #[test]
    fn every_statement_can_be_repeated() {
        for dialect in [Dialect::POSTGRES, Dialect::DSQL] {
            for step in Schema::of(dialect).steps() {
                let sql = step.sql();
                assert!(sql.contains("IF NOT EXISTS") || sql.contains("ON CONFLICT"), "{sql}");
            }
        }
    }
}
