//! The types of columns. As values in queries all of PostgreSQL's work; as columns they do not.

use sqlparser::ast::{ArrayElemTypeDef, DataType, Ident, Spanned};
use sqlparser::tokenizer::Span;

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Subject, last_name};

/// Types of PostgreSQL that no column may have. Names that are not PostgreSQL's own are domains, and pass.
const REFUSED: &[&str] = &[
    "bit",
    "bit varying",
    "box",
    "cidr",
    "circle",
    "datemultirange",
    "daterange",
    "inet",
    "int4multirange",
    "int4range",
    "int8multirange",
    "int8range",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "money",
    "nummultirange",
    "numrange",
    "path",
    "pg_lsn",
    "point",
    "polygon",
    "tsmultirange",
    "tsquery",
    "tsrange",
    "tstzmultirange",
    "tstzrange",
    "tsvector",
    "xml",
];

const SERIAL: &[&str] = &["bigserial", "serial", "serial2", "serial4", "serial8", "smallserial"];

/// The name by which PostgreSQL shows a type, as far as refusals name it.
pub(super) fn name(data_type: &DataType) -> String {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) => {
            // Dimensions are no part of a type.
            let element = name(element);
            if element.ends_with("[]") { element } else { element + "[]" }
        }
        DataType::Array(ArrayElemTypeDef::AngleBracket(element) | ArrayElemTypeDef::Parenthesis(element)) => {
            name(element) + "[]"
        }
        DataType::Custom(name, _) => last_name(name),
        DataType::Int(_) | DataType::Int4(_) | DataType::Integer(_) => "integer".to_owned(),
        DataType::Int2(_) | DataType::SmallInt(_) => "smallint".to_owned(),
        DataType::Int8(_) | DataType::BigInt(_) => "bigint".to_owned(),
        DataType::BitVarying(_) | DataType::VarBit(_) => "bit varying".to_owned(),
        other => {
            let shown = other.to_string().to_lowercase();
            shown.split('(').next().unwrap_or_default().trim_end().to_owned()
        }
    }
}

fn found(subject: &Subject<'_>, refused: impl Fn(&str) -> bool) -> Vec<Found> {
    let named = |column: &Ident, data_type: &DataType| -> Option<(String, Span)> {
        let name = name(data_type);
        let span = match data_type {
            DataType::Custom(name, _) => name.span(),
            _ => column.span,
        };
        refused(&name).then_some((name, span))
    };
    let columns = subject.columns();
    let columns = columns.iter().filter_map(|column| named(&column.name, &column.data_type));
    columns.map(|(name, span)| Found::span(name, span)).collect()
}

pub(super) static DATATYPE: Rule = Rule {
    id: "column-type",
    sqlstate: "0A000",
    text: "datatype {} not supported",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "a column of an array, range, network, geometric, bit, text search, money or xml type",
    advice: "store it as text, bytea or json, or in a table of its own; as a value in a query the type works",
    find: |subject| found(subject, |name| name.ends_with("[]") || name == "array" || REFUSED.contains(&name)),
};

pub(super) static JSON: Rule = Rule {
    id: "column-json",
    wording: Wording::Ours,
    levels: &[Level::L2025_05],
    sources: &[Source::ReleaseNotes, Source::Measurement],
    matches: "a column of type json or jsonb",
    advice: "store it as text, and cast it in queries",
    find: |subject| found(subject, |name| name == "json" || name == "jsonb"),
    ..DATATYPE
};

pub(super) static SERIAL_TYPE: Rule = Rule {
    id: "serial",
    sqlstate: "42704",
    text: "type \"{}\" does not exist",
    sources: &[Source::Measurement],
    matches: "a column of type serial, bigserial or smallserial",
    advice: "use uuid DEFAULT gen_random_uuid(), or bigint GENERATED … AS IDENTITY (CACHE 65536)",
    find: |subject| found(subject, |name| SERIAL.contains(&name)),
    ..DATATYPE
};
