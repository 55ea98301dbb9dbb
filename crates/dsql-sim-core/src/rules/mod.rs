//! Which statements DSQL takes, and how it refuses the others.
//!
//! The rules are a table, [`RULES`]: each says what it matches in words, the SQLSTATE and the text of its refusal, the
//! levels at which it holds, where the fact comes from and how sure it is. [`check`] asks them one after the other about
//! a parse tree; [`lint`] asks all of them about a whole text and says where.

mod alters;
mod dialect;
mod guard;
mod indexes;
mod keys;
mod kind;
mod limits;
mod lint;
mod locking;
mod objects;
mod parse;
mod remembered;
mod rule;
mod seen;
mod sequences;
mod settings;
mod subject;
mod table;
mod tables;
mod transactions;
mod types;
mod unreadable;

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

pub use keys::KEY_TYPE;
pub(crate) use keys::unfit_type;
pub use limits::{AGE_LIMIT, ROW_LIMIT, ROWS_MAX, SIZE_LIMIT};
pub use lint::{Finding, lint};
pub use locking::{LOCKING_KEY, LOCKING_TABLE, LockingRead, Strength, locking_reads};
pub use parse::parse;
pub(crate) use remembered::statements;
pub use rule::{Confidence, Judged, Rule, Source, Wording};
pub use sqlparser::ast::Statement;
pub use table::{RULES, rule};
pub use transactions::{DDL_WITH_DML, TWO_DDL};

use seen::Seen;
use subject::{Known, Subject};

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
    /// `DEALLOCATE ALL`.
    DeallocateAll,
    /// Anything else; runs as a read where no rule refuses it.
    Other,
}

impl Kind {
    /// Changes the catalogue: one of these per transaction, and nothing written beside it.
    pub fn is_ddl(self) -> bool {
        matches!(self, Kind::Ddl | Kind::CreateIndex)
    }

    /// Writes rows.
    pub fn is_dml(self) -> bool {
        matches!(self, Kind::Insert | Kind::Update | Kind::Delete | Kind::WritingWith)
    }
}

/// One statement of a query text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Its text, with its comments and without the semicolon.
    pub sql: Arc<str>,
    /// Its parse tree.
    pub statement: Statement,
    /// What the engine does with it.
    pub kind: Kind,
    pub(crate) seen: Seen,
    /// How it was judged by the rules that ask for nothing but the statement: a place for each level, strict or not.
    verdicts: [OnceLock<Result<(), Refusal>>; 2 * Level::ALL.len()],
}

impl Parsed {
    fn new(sql: &str, statement: Statement) -> Parsed {
        let seen = Seen::of(&statement);
        let kind = kind::of(&statement, seen.writes);
        Parsed { sql: sql.into(), statement, kind, seen, verdicts: Default::default() }
    }

    pub(crate) fn waits_for_job(&self) -> bool {
        let Statement::Call(call) = &self.statement else { return false };
        call.name.to_string().eq_ignore_ascii_case("sys.wait_for_job")
    }
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

impl Level {
    /// All levels, oldest first.
    pub const ALL: &'static [Level] = &[Level::L2025_05, Level::L2026_09];
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::L2025_05 => "2025.05",
            Level::L2026_09 => "2026.09",
        })
    }
}

/// A name that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no level of DSQL: 2025.05 or 2026.09")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let named = Level::ALL.iter().find(|level| level.to_string() == text);
        named.copied().ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

/// Refuses a statement that DSQL of this level does not take at this place.
///
/// `strict` also refuses what a real cluster was seen to take although its documentation does not offer it.
///
/// # Errors
/// The refusal of the first rule that matches, as a client is to see it.
pub fn check(parsed: &Parsed, level: Level, strict: bool, place: Place) -> Result<(), Refusal> {
    let judge = |asked: fn(&Rule) -> bool| {
        let known = Known::default();
        let subject = Subject::new(parsed, place, &known);
        for rule in RULES.iter().filter(|rule| asked(rule) && rule.holds(level, strict)) {
            if let Some(found) = rule.find(&subject).into_iter().next() {
                return Err(rule.refusal(&found.detail));
            }
        }
        Ok(())
    };
    // These are the first of all rules, so that asking them first keeps the order.
    judge(|rule| rule.judged == Judged::Transaction)?;
    let verdict = &parsed.verdicts[2 * level as usize + usize::from(strict)];
    verdict.get_or_init(|| judge(|rule| rule.judged != Judged::Transaction)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_as_they_are_shown() {
        for level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(*level));
        }
        assert!("2024.12".parse::<Level>().is_err());
    }
}
