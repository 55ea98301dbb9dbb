//! How much one transaction may do. The engine counts; a list of values is counted here already.

use sqlparser::ast::{SetExpr, Spanned, Statement};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};
use super::subject::Found;

/// Rows that one transaction may write; exactly as many are allowed.
pub const ROWS_MAX: usize = 3_000;

/// Too many rows written in a transaction.
pub static ROW_LIMIT: Rule = Rule {
    id: "row-limit",
    sqlstate: "54000",
    text: "transaction row limit exceeded",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "more than 3,000 rows inserted, updated and deleted in one transaction; at the statement that crosses it",
    advice: "write in batches of at most 1,000 rows, a transaction each",
    find: |subject| {
        let Statement::Insert(insert) = subject.statement() else { return Vec::new() };
        // A row that meets ON CONFLICT may not be written, and is not counted then.
        let Some(SetExpr::Values(values)) = insert.source.as_ref().map(|source| &*source.body) else {
            return Vec::new();
        };
        if values.rows.len() <= ROWS_MAX || insert.on.is_some() {
            return Vec::new();
        }
        let first_over = values.rows[ROWS_MAX].content.first();
        let found = first_over.map(|value| Found::span("", value.span()));
        vec![found.unwrap_or_else(|| Found::whole(""))]
    },
};

/// Too many bytes written in a transaction, told at COMMIT.
pub static SIZE_LIMIT: Rule = Rule {
    id: "size-limit",
    text: "transaction size limit 10mb exceeded",
    judged: Judged::Engine,
    matches: "more than 10 MiB written in one transaction, with what rows and indexes add; at COMMIT",
    advice: "write in batches of at most 8 MiB, a transaction each",
    find: nothing,
    ..ROW_LIMIT
};

/// A transaction that was open too long.
pub static AGE_LIMIT: Rule = Rule {
    id: "age-limit",
    text: "transaction age limit of 300s exceeded",
    judged: Judged::Engine,
    matches: "a transaction that is used or committed more than 300 seconds after its begin",
    advice: "keep transactions short; page through large reads by key, a transaction each",
    find: nothing,
    ..ROW_LIMIT
};
