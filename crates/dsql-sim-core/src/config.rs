//! How a simulated cluster behaves.

use std::{fmt, str::FromStr, time::Duration};

use crate::{backend::BackingUrl, rules::Level};

/// What an engine is built from.
#[derive(Clone, Debug)]
pub struct Config {
    /// The stock PostgreSQL that holds the data.
    pub backing: BackingUrl,
    /// Which DSQL is simulated.
    pub level: Level,
    /// Refuse locking reads outside the documented shape, even where a newer DSQL was seen to take them.
    pub is_strict: bool,
    /// Who decides conflicts.
    pub mode: Mode,
    /// What a transaction may do.
    pub limits: Limits,
    /// Where seeded decisions of fault rules start.
    pub seed: u64,
}

/// Who decides conflicts, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// At COMMIT, the first to commit wins; nobody waits.
    #[default]
    Deferred,
    /// At the statement, by PostgreSQL's own row locks: the first to write wins. Faster and less true.
    Native,
}

/// Limits of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows modified; the statement that goes beyond fails.
    pub rows: u64,
    /// Bytes written; COMMIT fails.
    pub bytes: u64,
    /// Time since it began; its next use fails.
    pub age: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rows: 3_000, bytes: 10 * 1024 * 1024, age: Duration::from_secs(300) }
    }
}

impl Config {
    /// The newest level, strict, deferred, with DSQL's limits.
    #[must_use]
    pub fn new(backing: BackingUrl) -> Config {
        Config {
            backing,
            level: Level::default(),
            is_strict: true,
            mode: Mode::default(),
            limits: Limits::default(),
            seed: 0,
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        match text {
            "deferred" => Ok(Mode::Deferred),
            "native" => Ok(Mode::Native),
            _ => Err(format!("mode '{text}' is neither deferred nor native")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Deferred => "deferred",
            Mode::Native => "native",
        })
    }
}
