//! Transactions: one isolation level, no savepoints, one DDL and nothing beside it.

use sqlparser::ast::{Set, Statement, TransactionIsolationLevel, TransactionMode};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Subject};

pub(super) static ISOLATION: Rule = Rule {
    id: "isolation-level",
    sqlstate: "0A000",
    text: "Unsupported isolation level: {}",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "an isolation level other than REPEATABLE READ, in BEGIN, START TRANSACTION or SET TRANSACTION",
    advice: "leave the level out; read rows that a decision rests on with FOR UPDATE against write skew",
    find: |subject| {
        let modes = match subject.statement() {
            Statement::StartTransaction { modes, .. } => modes,
            Statement::Set(Set::SetTransaction { modes, .. }) => modes,
            _ => return Vec::new(),
        };
        let refused = modes.iter().filter_map(|mode| match mode {
            TransactionMode::IsolationLevel(TransactionIsolationLevel::RepeatableRead) => None,
            TransactionMode::IsolationLevel(level) => Some(level.to_string()),
            TransactionMode::AccessMode(_) => None,
        });
        refused.map(|level| Found::words(level, &["ISOLATION", "LEVEL"])).collect()
    },
};

pub(super) static SET_TRANSACTION: Rule = Rule {
    id: "set-transaction",
    text: "setting configuration parameter \"{}\" not supported",
    matches: "any SET TRANSACTION or SET SESSION CHARACTERISTICS",
    advice: "say READ ONLY in BEGIN",
    find: |subject| match subject.statement() {
        Statement::Set(Set::SetTransaction { session: false, .. }) => vec![Found::whole("TRANSACTION")],
        Statement::Set(Set::SetTransaction { .. }) => vec![Found::whole("SESSION CHARACTERISTICS")],
        _ => Vec::new(),
    },
    ..ISOLATION
};

pub(super) static SAVEPOINT: Rule = Rule {
    id: "savepoint",
    text: "unsupported transaction statement: {}",
    sources: &[Source::Measurement, Source::Linter],
    matches: "SAVEPOINT, RELEASE SAVEPOINT, ROLLBACK TO, PREPARE TRANSACTION",
    advice: "repeat the whole transaction instead",
    find: |subject| {
        let named = match subject.statement() {
            Statement::Savepoint { .. } => "SAVEPOINT",
            Statement::ReleaseSavepoint { .. } => "RELEASE",
            Statement::Rollback { savepoint: Some(_), .. } => "ROLLBACK TO",
            _ => return Vec::new(),
        };
        vec![Found::whole(named)]
    },
    ..ISOLATION
};

/// A second DDL statement in a transaction.
pub static TWO_DDL: Rule = Rule {
    id: "one-ddl",
    text: "multiple ddl statements not supported in a transaction",
    judged: Judged::Transaction,
    matches: "a DDL statement, GRANT or REVOKE after another one in the same transaction",
    advice: "commit after each DDL statement",
    find: |subject| Found::when(subject.parsed.kind.is_ddl() && in_open(subject) && subject.place.ddl_done),
    ..ISOLATION
};

/// DDL and written rows in one transaction.
pub static DDL_WITH_DML: Rule = Rule {
    id: "ddl-with-dml",
    text: "ddl and dml are not supported in the same transaction",
    matches: "a DDL statement after rows were written in the same transaction, or the other way round",
    advice: "commit between them",
    find: |subject| {
        let kind = subject.parsed.kind;
        let place = subject.place;
        let mixed = kind.is_ddl() && place.dml_done || kind.is_dml() && place.ddl_done;
        Found::when(mixed && in_open(subject))
    },
    ..TWO_DDL
};

/// A procedure that waits would hold its transaction open.
pub(super) static WAIT_FOR_JOB: Rule = Rule {
    id: "wait-for-job-in-transaction",
    sqlstate: "25001",
    text: "sys.wait_for_job cannot run inside a transaction block",
    wording: Wording::Ours,
    sources: &[Source::Measurement],
    confidence: Confidence::Medium,
    matches: "CALL sys.wait_for_job between BEGIN and COMMIT",
    advice: "call it by itself, after the COMMIT of what makes the job",
    find: |subject| Found::when(subject.parsed.waits_for_job() && in_open(subject)),
    ..TWO_DDL
};

fn in_open(subject: &Subject<'_>) -> bool {
    subject.place.in_transaction
}
