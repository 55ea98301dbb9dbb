//! What a rule is.

use std::fmt;

use super::subject::{Found, Subject};
use super::{Level, Refusal};

/// One thing that DSQL refuses.
#[derive(Debug)]
pub struct Rule {
    /// Its stable name.
    pub id: &'static str,
    /// Five characters, as the wire protocol has them.
    pub sqlstate: &'static str,
    /// The message; `{}` stands for what was found.
    pub text: &'static str,
    /// Whose words the message is in.
    pub wording: Wording,
    /// The levels at which it holds.
    pub levels: &'static [Level],
    /// Holds only in strict mode: documented as refused, or not documented as taken, but seen to work.
    pub strict: bool,
    /// What has to be known to judge it.
    pub judged: Judged,
    /// Where the fact comes from.
    pub sources: &'static [Source],
    /// How sure the fact is.
    pub confidence: Confidence,
    /// What it matches.
    pub matches: &'static str,
    /// What to do instead.
    pub advice: &'static str,
    pub(super) find: fn(&Subject<'_>) -> Vec<Found>,
}

/// Whose words a message is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// Reported from a real cluster.
    Reported,
    /// Ours: only the refusal is known, or its code.
    Ours,
}

/// What has to be known to judge a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The statement alone.
    Statement,
    /// What its transaction did before.
    Transaction,
    /// The tables, or what a transaction has written: the engine judges it.
    Engine,
    /// Whether the text can be read at all.
    Text,
}

/// Where a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A page of AWS's documentation.
    Documentation,
    /// AWS's release notes.
    ReleaseNotes,
    /// A public measurement on a real cluster.
    Measurement,
    /// An issue or a pull request.
    Issue,
    /// A public fork that ran against DSQL.
    Fork,
    /// AWS's own linter or grammar.
    Linter,
    /// Our inference.
    Inference,
}

/// How sure a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Several sources, or one that measured.
    High,
    /// One source, or sources that do not agree.
    Medium,
    /// Concluded from something else.
    Low,
}

impl Rule {
    /// Whether it is asked at all.
    pub fn holds(&self, level: Level, strict: bool) -> bool {
        self.levels.contains(&level) && (strict || !self.strict)
    }

    /// The refusal, about what was found.
    pub fn refusal(&self, detail: &str) -> Refusal {
        Refusal {
            sqlstate: self.sqlstate.to_owned(),
            message: self.text.replace("{}", detail),
            rule: self.id.to_owned(),
        }
    }

    pub(super) fn find(&self, subject: &Subject<'_>) -> Vec<Found> {
        (self.find)(subject)
    }
}

/// For rules that are not judged on a statement.
pub(super) fn nothing(_: &Subject<'_>) -> Vec<Found> {
    Vec::new()
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wording::Reported => "reported",
            Wording::Ours => "ours",
        })
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Judged::Statement => "statement",
            Judged::Transaction => "transaction",
            Judged::Engine => "engine",
            Judged::Text => "text",
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Documentation => "documentation",
            Source::ReleaseNotes => "release notes",
            Source::Measurement => "measurement",
            Source::Issue => "issue",
            Source::Fork => "fork",
            Source::Linter => "linter",
            Source::Inference => "inference",
        })
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        })
    }
}
