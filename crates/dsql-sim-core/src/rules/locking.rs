//! `FOR UPDATE` and its kin. Nothing waits on DSQL: a locking read is a claim that is judged at COMMIT.

use sqlparser::ast::{
    BinaryOperator, Expr, LockType, NonBlock, ObjectName, Query, Select, SetExpr, TableFactor,
};

use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};
use super::seen::names_column;
use super::subject::{Found, Subject, folded};
use super::{Level, Parsed};

/// A query with a locking clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockingRead {
    /// How much each of its clauses claims.
    pub strengths: Vec<Strength>,
    /// The one table it reads; none where it reads several, or something else than a table.
    pub table: Option<ObjectName>,
    /// The columns that its condition fixes to one value each, folded as PostgreSQL folds names.
    pub fixed_columns: Vec<String>,
    waits: Option<NonBlock>,
    /// Its rows are those of the statement, and nothing is written beside it.
    is_outermost: bool,
}

/// How much of a row a locking clause claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// `FOR KEY SHARE`: that its key stays.
    KeyShare,
    /// `FOR SHARE`: that it stays as it is.
    Share,
    /// `FOR UPDATE`: the row.
    Update,
}

/// The locking reads of a statement, subqueries included.
pub fn locking_reads(parsed: &Parsed) -> Vec<LockingRead> {
    parsed.seen.locking.clone()
}

impl LockingRead {
    pub(super) fn of(query: &Query, is_outermost: bool) -> Option<Self> {
        if query.locks.is_empty() {
            return None;
        }
        let select = match &*query.body {
            SetExpr::Select(select) => Some(select),
            _ => None,
        };
        Some(LockingRead {
            strengths: query.locks.iter().map(|lock| Strength::from(&lock.lock_type)).collect(),
            table: select.and_then(|select| only_table(select)),
            fixed_columns: select.and_then(|select| select.selection.as_ref()).map(fixed).unwrap_or_default(),
            waits: query.locks.iter().find_map(|lock| lock.nonblock),
            is_outermost,
        })
    }

    /// Its rows are not all that the statement gives.
    pub(super) fn stand_beside_a_write(&mut self) {
        self.is_outermost = false;
    }
}

impl From<&LockType> for Strength {
    fn from(lock: &LockType) -> Self {
        match lock {
            LockType::KeyShare => Strength::KeyShare,
            LockType::Share => Strength::Share,
            LockType::Update => Strength::Update,
        }
    }
}

fn only_table(select: &Select) -> Option<ObjectName> {
    match select.from.as_slice() {
        [from] if from.joins.is_empty() => match &from.relation {
            TableFactor::Table { name, args: None, .. } => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The columns that every row of the result has one given value in.
fn fixed(condition: &Expr) -> Vec<String> {
    let mut columns = Vec::new();
    let mut waiting = vec![condition];
    while let Some(part) = waiting.pop() {
        match part {
            Expr::Nested(inner) => waiting.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => waiting.extend([&**left, &**right]),
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => columns.extend(equated(left, right)),
            _ => {}
        }
    }
    columns
}

fn equated(left: &Expr, right: &Expr) -> Vec<String> {
    match (left, right) {
        (Expr::Tuple(left), Expr::Tuple(right)) if left.len() == right.len() => {
            left.iter().zip(right).flat_map(|(left, right)| equated(left, right)).collect()
        }
        _ => match (column(left), column(right)) {
            (Some(name), None) if is_value(right) => vec![name],
            (None, Some(name)) if is_value(left) => vec![name],
            _ => Vec::new(),
        },
    }
}

/// Whether it is the same for every row, as far as can be told without knowing what it calls.
fn is_value(expr: &Expr) -> bool {
    !names_column(expr)
}

pub(super) fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(folded(name)),
        Expr::CompoundIdentifier(names) => names.last().map(folded),
        _ => None,
    }
}

pub(super) static OTHER_CLAUSE: Rule = Rule {
    id: "locking-clause",
    sqlstate: "0A000",
    text: "locking clauses other than FOR UPDATE/FOR KEY SHARE are not supported",
    wording: Wording::Reported,
    levels: &[Level::L2026_09],
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "FOR SHARE or FOR NO KEY UPDATE",
    advice: "use FOR KEY SHARE where only the key has to stay, FOR UPDATE where the row has to",
    find: |subject| of_strength(subject, |strength| strength == Strength::Share),
};

pub(super) static OTHER_CLAUSE_BEFORE_KEY_SHARE: Rule = Rule {
    id: "locking-clause-update-only",
    text: "locking clauses other than FOR UPDATE are not supported",
    wording: Wording::Ours,
    levels: &[Level::L2025_05],
    matches: "FOR SHARE, FOR NO KEY UPDATE or FOR KEY SHARE",
    advice: "use FOR UPDATE",
    find: |subject| of_strength(subject, |strength| strength != Strength::Update),
    ..OTHER_CLAUSE
};

fn of_strength(subject: &Subject<'_>, refused: impl Fn(Strength) -> bool) -> Vec<Found> {
    let clauses = subject.locking.iter().flat_map(|read| &read.strengths);
    let place = |strength: &Strength| match strength {
        Strength::KeyShare => Found::words("", &["FOR", "KEY", "SHARE"]),
        _ => Found::words("", &["FOR", "SHARE"]),
    };
    clauses.filter(|strength| refused(**strength)).map(place).collect()
}

/// The engine claims the rows of a statement's own query; of others it would not learn which they are.
pub(super) static NESTED: Rule = Rule {
    id: "locking-nested",
    text: "locking clause such as FOR UPDATE can be applied only on the outermost query",
    wording: Wording::Ours,
    strict: false,
    sources: &[Source::Inference],
    confidence: Confidence::Low,
    matches: "a locking clause in a WITH part, a subquery, INSERT … SELECT, a view or EXPLAIN ANALYZE, or beside a WITH part \
              that writes; DSQL may take it, the simulator could not tell its conflicts",
    advice: "lock the rows by a query of their own, before, in the same transaction",
    find: |subject| {
        let reads = subject.locking.iter().filter(|read| !read.is_outermost);
        reads.map(|_| Found::words("", &["FOR"])).collect()
    },
    ..SINGLE_TABLE
};

/// For the engine, which knows what is a table.
pub static LOCKING_TABLE: Rule = Rule {
    id: "locking-table",
    text: "locking clause such as FOR UPDATE can be applied only on a stored table",
    judged: Judged::Engine,
    matches: "a locking clause on a view, a WITH part, a subquery or a join in brackets; DSQL may take it, the simulator \
              could not tell its conflicts",
    advice: "lock the rows of the table itself",
    find: nothing,
    ..NESTED
};

pub(super) static SINGLE_TABLE: Rule = Rule {
    id: "locking-single-table",
    sqlstate: "0A000",
    text: "locking clause such as FOR UPDATE can be applied only on a single table",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: true,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Fork],
    confidence: Confidence::High,
    matches: "a locking clause on a join, a subquery, a function or a set operation",
    advice: "lock each row by a query of its own that names one table and its whole key",
    find: |subject| {
        let reads = subject.locking.iter().filter(|read| read.table.is_none());
        reads.map(|_| Found::words("", &["FOR"])).collect()
    },
};

pub(super) static NO_EQUALITY: Rule = Rule {
    id: "locking-equality",
    text: "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key",
    matches: "a locking clause on a query whose condition fixes no column by equality: ranges, IN, another \
              column, none at all",
    advice: "name the whole primary key: WHERE a = $1 AND b = $2",
    find: |subject| {
        let reads = subject.locking.iter();
        let loose = reads.filter(|read| read.table.is_some() && read.fixed_columns.is_empty());
        loose.map(|_| Found::words("", &["FOR"])).collect()
    },
    ..SINGLE_TABLE
};

/// For the engine, which knows the keys: equality, but not on all columns of the primary key.
pub static LOCKING_KEY: Rule = Rule {
    id: "locking-key",
    text: "locking clause such as FOR UPDATE can be applied only on tables with equality predicates on the key",
    judged: Judged::Engine,
    matches: "a locking clause on a query whose condition does not fix all columns of the primary key by equality",
    advice: "name the whole primary key: WHERE a = $1 AND b = $2",
    find: nothing,
    ..SINGLE_TABLE
};

pub(super) static NO_WAIT: Rule = Rule {
    id: "locking-no-wait",
    text: "{} is not supported in a locking clause",
    wording: Wording::Ours,
    sources: &[Source::Linter, Source::Measurement, Source::Inference],
    confidence: Confidence::Medium,
    matches: "NOWAIT or SKIP LOCKED in a locking clause",
    advice: "leave it out: there is no lock to wait for or to skip; take work by one owner, or by CAS on each row",
    find: |subject| {
        let clause = |waits: &NonBlock| match waits {
            NonBlock::Nowait => Found::words("NOWAIT", &["NOWAIT"]),
            NonBlock::SkipLocked => Found::words("SKIP LOCKED", &["SKIP", "LOCKED"]),
        };
        subject.locking.iter().filter_map(|read| read.waits.as_ref()).map(clause).collect()
    },
    ..SINGLE_TABLE
};

pub(super) static ADVISORY: Rule = Rule {
    id: "advisory-lock",
    sqlstate: "0A000",
    text: "function {} not supported",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Issue],
    confidence: Confidence::High,
    matches: "a call of pg_advisory_… or pg_try_advisory_…",
    advice: "guard by a row: a conditional write of one row per key, or a lock of Leasehold",
    find: |subject| {
        let calls = subject.functions.iter();
        let locks = calls
            .filter(|(name, _)| name.starts_with("pg_advisory_") || name.starts_with("pg_try_advisory_"));
        locks.map(|(name, span)| Found::span(name, *span)).collect()
    },
};
