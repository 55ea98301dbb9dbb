//! Which statements DSQL takes, and how it refuses the others.

mod parse;

use std::fmt;

pub use parse::parse;
pub use sqlparser::ast::Statement;

/// The state of DSQL that is simulated: what it takes differs by date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// General availability: only `FOR UPDATE`, no foreign keys, no `json` columns, no partial indexes.
    L2025_05,
    /// With `FOR KEY SHARE`, foreign keys, `json` columns, partial and expression indexes.
    #[default]
    L2026_09,
}

/// What the engine has to do with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `BEGIN`, `START TRANSACTION`.
    Begin,
    /// `COMMIT`, `END`.
    Commit,
    /// `ROLLBACK`, `ABORT`.
    Rollback,
    /// `SELECT`, `VALUES`, `TABLE`: reads, with or without a locking clause.
    Select,
    /// `INSERT`.
    Insert,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
    /// A `WITH` whose parts write.
    WritingWith,
    /// `CREATE INDEX ASYNC`: DDL that makes a job.
    CreateIndex,
    /// All other DDL, `GRANT` and `REVOKE` among it.
    Ddl,
    /// `SET` and `RESET` of a session setting.
    Set,
    /// `SHOW`.
    Show,
    /// `EXPLAIN`.
    Explain,
    /// `CALL`.
    Call,
    /// Anything else; runs as a read where no rule refuses it.
    Other,
}

/// One statement of a query text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Its text, with its comments and without the semicolon.
    pub sql: String,
    /// Its parse tree.
    pub statement: Statement,
    /// What the engine does with it.
    pub kind: Kind,
}

/// Where in a transaction a statement stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Between `BEGIN` and its end, or one of several statements of a simple query.
    pub in_transaction: bool,
    /// DDL was done in this transaction.
    pub ddl_done: bool,
    /// Rows were written or locked in this transaction.
    pub dml_done: bool,
}

/// Why a statement is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Five characters, as the wire protocol has them.
    pub sqlstate: String,
    /// In DSQL's words where they are known.
    pub message: String,
    /// The stable name of the rule.
    pub rule: String,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::L2025_05 => "2025.05",
            Level::L2026_09 => "2026.09",
        })
    }
}

/// Refuses a statement that DSQL of this level does not take at this place.
///
/// # Errors
/// The refusal, as a client is to see it.
pub fn check(_parsed: &Parsed, _level: Level, _strict: bool, _place: Place) -> Result<(), Refusal> {
    Ok(())
}
