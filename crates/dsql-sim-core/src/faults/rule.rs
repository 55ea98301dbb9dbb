//! One rule: when to strike, and with what.

use serde::{Deserialize, Serialize};

use super::{Footprint, Point};

/// When a fault strikes, and what it does. Written as JSON:
/// `{"name": "lose", "action": "cut_after_commit", "op": "Save", "nth": 3}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is known by.
    pub name: String,
    /// What it does.
    pub action: Action,
    /// Only statements tagged `/* op=… */` with this; of a transaction, any of its statements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Only statements that name this table, in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Only statements of this kind: select, insert, update, delete, with, ddl, other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Not before this occurrence, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// At most this often; without it once if `nth` is given, else for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// Of those occurrences, this share, by a seeded sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// How long a delay is, or the build of an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// COMMIT answers `40001 … (OC000)`.
    ConflictAtCommit,
    /// The statement answers `40001 … (OC000)`.
    ConflictAtStatement,
    /// COMMIT answers `40001 … (OC001)`.
    SchemaConflictAtCommit,
    /// The statement answers `40001 … (OC001)`.
    SchemaConflictAtStatement,
    /// The connection is cut when COMMIT comes; nothing is committed.
    CutBeforeCommit,
    /// The connection is cut after the commit, before its answer: an unknown outcome.
    CutAfterCommit,
    /// The statement takes longer.
    Delay,
    /// COMMIT answers `54000`.
    Limit,
    /// The statement answers `XX000 server unavailable`.
    Unavailable,
    /// A new connection is refused with `53300`.
    TooManyConnections,
    /// A new connection is refused with `53400`.
    ConnectionRate,
    /// A new connection is refused as if its token had expired.
    RejectToken,
    /// The connection is closed at the statement, as at the end of its lifetime.
    Close,
    /// The job of a `CREATE INDEX ASYNC` fails: its index stays invalid.
    FailIndexBuild,
    /// The job of a `CREATE INDEX ASYNC` goes on until the rule is disarmed, or `delay_ms` are over.
    SlowIndexBuild,
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("fault rule is not valid: {reason}")]
pub struct RuleError {
    reason: String,
}

impl Rule {
    /// Reads a rule from JSON.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(json: &str) -> Result<Rule, RuleError> {
        let rule: Rule =
            serde_json::from_str(json).map_err(|error| RuleError { reason: error.to_string() })?;
        match rule.probability {
            Some(probability) if !(0.0..=1.0).contains(&probability) => {
                Err(RuleError { reason: format!("probability {probability} is not between 0 and 1") })
            }
            _ => Ok(rule),
        }
    }

    pub(super) fn matches(&self, footprint: &Footprint) -> bool {
        self.op.as_ref().is_none_or(|op| footprint.op.as_ref() == Some(op))
            && self.table.as_ref().is_none_or(|table| footprint.tables.contains(table))
            && self.kind.as_ref().is_none_or(|kind| footprint.kind == kind)
    }

    pub(super) fn times_max(&self) -> u64 {
        self.times.unwrap_or(if self.nth.is_some() { 1 } else { u64::MAX })
    }
}

impl Action {
    pub(super) fn point(self) -> Point {
        match self {
            Action::TooManyConnections | Action::ConnectionRate | Action::RejectToken => Point::Connect,
            Action::ConflictAtStatement
            | Action::SchemaConflictAtStatement
            | Action::Delay
            | Action::Unavailable
            | Action::Close => Point::Statement,
            Action::ConflictAtCommit
            | Action::SchemaConflictAtCommit
            | Action::CutBeforeCommit
            | Action::Limit => Point::BeforeCommit,
            Action::CutAfterCommit => Point::AfterCommit,
            Action::FailIndexBuild | Action::SlowIndexBuild => Point::IndexBuild,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;

    #[test]
    fn bad_rules_say_what_is_wrong() {
        let told = |json: &str| Rule::read(json).unwrap_err().to_string();
        assert!(told(r#"{"name": "r"}"#).contains("missing field `action`"));
        assert!(told(r#"{"name": "r", "action": "explode"}"#).contains("unknown variant"));
        assert!(told(r#"{"name": "r", "action": "delay", "probability": 2}"#).contains("between 0 and 1"));
        assert!(told(r#"{"name": "r", "action": "delay", "tabel": "t"}"#).contains("unknown field"));
    }
}
