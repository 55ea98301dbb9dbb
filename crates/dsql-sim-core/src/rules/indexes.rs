//! Indexes are built in the background, and plainly.

use sqlparser::ast::{CreateIndex, Expr, OrderBySort, Spanned, Statement};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Subject};

/// Columns that an index may have.
const COLUMNS_MAX: usize = 8;

fn index<'a>(subject: &Subject<'a>) -> Option<&'a CreateIndex> {
    match subject.statement() {
        Statement::CreateIndex(index) => Some(index),
        _ => None,
    }
}

pub(super) static CONCURRENTLY: Rule = Rule {
    id: "index-concurrently",
    sqlstate: "0A000",
    text: "CONCURRENTLY not supported for CREATE INDEX",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "CREATE INDEX CONCURRENTLY",
    advice: "write CREATE INDEX ASYNC, and wait for its job: CALL sys.wait_for_job('…')",
    find: |subject| match index(subject) {
        Some(index) if index.concurrently => vec![Found::words("", &["CONCURRENTLY"])],
        _ => Vec::new(),
    },
};

pub(super) static USING: Rule = Rule {
    id: "index-method",
    text: "USING not supported for CREATE INDEX",
    matches: "CREATE INDEX … USING a method, btree included; btree_index, DSQL's own, is taken",
    advice: "leave USING out; all indexes are ordered",
    find: |subject| match index(subject).and_then(|index| index.using.as_ref()) {
        Some(method) if !method.to_string().eq_ignore_ascii_case("btree_index") => {
            vec![Found::words("", &["USING"])]
        }
        _ => Vec::new(),
    },
    ..CONCURRENTLY
};

pub(super) static PARTIAL: Rule = Rule {
    id: "index-partial",
    text: "WHERE not supported for CREATE INDEX",
    levels: &[Level::L2025_05],
    matches: "CREATE INDEX … WHERE",
    advice: "lead a full index with the column of the condition, or keep the rows in a table of their own",
    find: |subject| {
        let predicate = index(subject).and_then(|index| index.predicate.as_ref());
        predicate.map(|predicate| Found::span("", predicate.span())).into_iter().collect()
    },
    ..CONCURRENTLY
};

pub(super) static SYNCHRONOUS: Rule = Rule {
    id: "index-async",
    text: "unsupported mode. please use CREATE INDEX ASYNC.",
    matches: "CREATE INDEX without ASYNC",
    advice: "write CREATE INDEX ASYNC, and wait for its job: CALL sys.wait_for_job('…')",
    find: |subject| Found::when(index(subject).is_some_and(|index| !index.r#async)),
    ..CONCURRENTLY
};

pub(super) static QUALIFIED: Rule = Rule {
    id: "index-name",
    sqlstate: "42601",
    text: "syntax error at or near \".\"",
    matches: "a schema before the name of an index in CREATE INDEX",
    advice: "leave the schema out: an index is in the schema of its table",
    find: |subject| match index(subject).and_then(|index| index.name.as_ref()) {
        Some(name) if name.0.len() > 1 => vec![Found::span("", name.span())],
        _ => Vec::new(),
    },
    ..CONCURRENTLY
};

pub(super) static SORT_ORDER: Rule = Rule {
    id: "index-order",
    text: "specifying sort order not supported for index keys",
    matches: "ASC or DESC on a column of an index; NULLS FIRST and NULLS LAST are taken",
    advice: "leave it out; an index is read in both directions",
    find: |subject| {
        let columns = index(subject).map(|index| index.columns.as_slice()).unwrap_or_default();
        let sorted = columns.iter().filter(|column| {
            matches!(column.column.options.sort, Some(OrderBySort::Asc | OrderBySort::Desc))
        });
        sorted.map(|column| Found::span("", column.column.expr.span())).collect()
    },
    ..CONCURRENTLY
};

pub(super) static OPERATOR_CLASS: Rule = Rule {
    id: "index-operator-class",
    text: "operator class {} not supported for index keys",
    wording: Wording::Ours,
    sources: &[Source::Documentation],
    matches: "an operator class on a column of an index",
    advice: "leave it out; text is ordered by its bytes, so prefixes are found without",
    find: |subject| {
        let columns = index(subject).map(|index| index.columns.as_slice()).unwrap_or_default();
        let classes = columns.iter().filter_map(|column| column.operator_class.as_ref());
        classes.map(|class| Found::span(class.to_string(), class.span())).collect()
    },
    ..CONCURRENTLY
};

pub(super) static EXPRESSION: Rule = Rule {
    id: "index-expression",
    text: "expressions not supported for index keys",
    wording: Wording::Ours,
    levels: &[Level::L2025_05],
    sources: &[Source::ReleaseNotes],
    matches: "an expression in place of a column in CREATE INDEX",
    advice: "keep its value in a column of its own",
    find: |subject| {
        let columns = index(subject).map(|index| index.columns.as_slice()).unwrap_or_default();
        let computed = columns.iter().filter(|column| !matches!(column.column.expr, Expr::Identifier(_)));
        computed.map(|column| Found::span("", column.column.expr.span())).collect()
    },
    ..CONCURRENTLY
};

pub(super) static TOO_MANY_COLUMNS: Rule = Rule {
    id: "index-columns",
    sqlstate: "54011",
    text: "more than 8 column keys in an index are not supported",
    matches: "CREATE INDEX on more than 8 columns",
    advice: "index the columns that tell rows apart, INCLUDE the others",
    find: |subject| match index(subject).and_then(|index| index.columns.get(COLUMNS_MAX)) {
        Some(ninth) => vec![Found::span("", ninth.column.expr.span())],
        None => Vec::new(),
    },
    ..CONCURRENTLY
};
