//! Sequences and identity columns: since spring 2026, and only with a cache that is stated.

use sqlparser::ast::{ColumnDef, ColumnOption, Expr, SequenceOptions, Spanned, Statement, Value};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Subject};
use super::types;

/// The smallest cache, but for 1.
const CACHE_MIN: u64 = 65_536;

type Identity<'a> = (&'a ColumnDef, &'a [SequenceOptions]);

fn identities<'a>(subject: &Subject<'a>) -> Vec<Identity<'a>> {
    let columns = subject.columns().into_iter();
    let identity = |column: &'a ColumnDef| {
        column.options.iter().find_map(|option| match &option.option {
            ColumnOption::Generated { generation_expr: None, sequence_options, .. } => {
                Some((column, sequence_options.as_deref().unwrap_or_default()))
            }
            _ => None,
        })
    };
    columns.filter_map(identity).collect()
}

fn cached(options: &[SequenceOptions]) -> bool {
    options.iter().any(|option| match option {
        SequenceOptions::Cache(Expr::Value(value)) => match &value.value {
            Value::Number(number, _) => number.parse().is_ok_and(|size: u64| size == 1 || size >= CACHE_MIN),
            _ => false,
        },
        _ => false,
    })
}

pub(super) static SEQUENCE: Rule = Rule {
    id: "sequence",
    sqlstate: "0A000",
    text: "CREATE SEQUENCE not supported",
    wording: Wording::Ours,
    levels: &[Level::L2025_05],
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation],
    confidence: Confidence::High,
    matches: "CREATE SEQUENCE",
    advice: "use uuid DEFAULT gen_random_uuid()",
    find: |subject| Found::when(matches!(subject.statement(), Statement::CreateSequence { .. })),
};

pub(super) static IDENTITY: Rule = Rule {
    id: "identity",
    text: "identity column not supported",
    matches: "a column GENERATED … AS IDENTITY",
    find: |subject| {
        let columns = identities(subject).into_iter();
        columns.map(|(column, _)| Found::span("", column.name.span)).collect()
    },
    ..SEQUENCE
};

pub(super) static SEQUENCE_CACHE: Rule = Rule {
    id: "sequence-cache",
    text: "CREATE SEQUENCE is not supported without an explicit cache size. please define CACHE greater than or equal \
           to 65536 or equal to 1",
    wording: Wording::Reported,
    levels: &[Level::L2026_09],
    sources: &[Source::Documentation, Source::Measurement],
    matches: "CREATE SEQUENCE without CACHE 1 or CACHE of at least 65536",
    advice: "add CACHE 65536; add CACHE 1 where few gaps matter more than speed",
    find: |subject| match subject.statement() {
        Statement::CreateSequence { sequence_options, name, .. } if !cached(sequence_options) => {
            vec![Found::span("", name.span())]
        }
        _ => Vec::new(),
    },
    ..SEQUENCE
};

pub(super) static IDENTITY_TYPE: Rule = Rule {
    id: "identity-type",
    text: "datatype {} not supported, identity column type must be bigint",
    matches: "a column GENERATED … AS IDENTITY of another type than bigint",
    advice: "make the column a bigint",
    find: |subject| {
        let columns = identities(subject).into_iter();
        let named = columns.map(|(column, _)| (types::name(&column.data_type), column.name.span));
        named.filter(|(name, _)| name != "bigint").map(|(name, span)| Found::span(name, span)).collect()
    },
    ..SEQUENCE_CACHE
};

pub(super) static IDENTITY_CACHE: Rule = Rule {
    id: "identity-cache",
    text: "identity column is not supported without an explicit cache size. please define CACHE greater than or equal \
           to 65536 or equal to 1",
    matches: "a column GENERATED … AS IDENTITY without CACHE 1 or CACHE of at least 65536",
    find: |subject| {
        let columns = identities(subject).into_iter().filter(|(_, options)| !cached(options));
        columns.map(|(column, _)| Found::span("", column.name.span)).collect()
    },
    ..SEQUENCE_CACHE
};
