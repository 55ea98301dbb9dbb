//! Session settings that cannot be set.

use sqlparser::ast::{ObjectName, Reset, Set, Spanned, Statement};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, last_name};

/// Those that were seen refused. All others pass: what is not known to be refused is taken.
const REFUSED: &[&str] = &[
    "default_transaction_isolation",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "role",
    "session_authorization",
    "statement_timeout",
    "transaction_isolation",
    "work_mem",
];

pub(super) static SETTING: Rule = Rule {
    id: "setting",
    sqlstate: "0A000",
    text: "setting configuration parameter \"{}\" not supported",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::Medium,
    matches: "SET or RESET of an isolation level, of the role, of statement_timeout, of an idle timeout or of work_mem",
    advice: "leave it out; bound a statement by a timeout of the client",
    find: |subject| {
        let named = |name: &ObjectName| {
            let setting = last_name(name).to_lowercase();
            REFUSED.contains(&setting.as_str()).then(|| Found::span(setting, name.span()))
        };
        match subject.statement() {
            Statement::Set(Set::SingleAssignment { variable, .. }) => named(variable).into_iter().collect(),
            Statement::Set(Set::SetRole { .. }) => vec![Found::whole("role")],
            Statement::Set(Set::SetSessionAuthorization(_)) => vec![Found::whole("session_authorization")],
            Statement::Reset(reset) => match &reset.reset {
                Reset::ConfigurationParameter(name) => named(name).into_iter().collect(),
                Reset::ALL => Vec::new(),
            },
            _ => Vec::new(),
        }
    },
};
