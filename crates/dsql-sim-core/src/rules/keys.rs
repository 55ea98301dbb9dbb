//! Types that cannot be part of a key.

use sqlparser::ast::{
    ColumnOption, CreateIndex, CreateTable, DataType, Expr, IndexColumn, Spanned, Statement, TableConstraint,
};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording};
use super::subject::{Found, Known, folded};
use super::types;

const REFUSED: &[&str] = &["bytea", "json", "jsonb"];

/// A column in a key that cannot be part of one. The engine asks `unfit_type` about indexes on tables of the database.
pub static KEY_TYPE: Rule = Rule {
    id: "key-type",
    sqlstate: "0A000",
    text: "datatype {} is not supported in a key",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "a bytea, json or jsonb column in a primary key, a unique constraint or, where its table is known, an index",
    advice: "use text or uuid for the key; encode bytes as hex or base64",
    find: |subject| match subject.statement() {
        Statement::CreateTable(table) => in_table(table),
        Statement::CreateIndex(index) => {
            let columns = index.columns.iter();
            let known: &Known = subject.known;
            columns
                .filter_map(|column| refused(column, |name| known.type_of(&index.table_name, name)))
                .collect()
        }
        _ => Vec::new(),
    },
};

fn in_table(table: &CreateTable) -> Vec<Found> {
    let mut found = Vec::new();
    for column in &table.columns {
        let keyed =
            |option: &ColumnOption| matches!(option, ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_));
        let name = types::name(&column.data_type);
        if column.options.iter().any(|option| keyed(&option.option)) && REFUSED.contains(&name.as_str()) {
            found.push(Found::span(name, column.name.span));
        }
    }
    for constraint in &table.constraints {
        let columns = match constraint {
            TableConstraint::PrimaryKey(key) => &key.columns,
            TableConstraint::Unique(key) => &key.columns,
            _ => continue,
        };
        let type_of = |name: &str| {
            let column = table.columns.iter().find(|column| folded(&column.name) == name);
            column.map(|column| &column.data_type)
        };
        found.extend(columns.iter().filter_map(|column| refused(column, type_of)));
    }
    found
}

fn refused<'a>(column: &IndexColumn, type_of: impl Fn(&str) -> Option<&'a DataType>) -> Option<Found> {
    let data_type = types::name(type_of(&plain(column)?)?);
    REFUSED.contains(&data_type.as_str()).then(|| Found::span(data_type, column.column.expr.span()))
}

/// The first type among the columns of an index that cannot be part of a key. `type_of` knows those of its table.
pub(crate) fn unfit_type<'a>(
    index: &CreateIndex,
    type_of: impl Fn(&str) -> Option<&'a str>,
) -> Option<&'a str> {
    let mut types = index.columns.iter().filter_map(|column| type_of(&plain(column)?));
    types.find(|data_type| REFUSED.contains(data_type))
}

/// The name of a column that is indexed as it is.
fn plain(column: &IndexColumn) -> Option<String> {
    let mut expr = &column.column.expr;
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    match expr {
        Expr::Identifier(name) => Some(folded(name)),
        _ => None,
    }
}
