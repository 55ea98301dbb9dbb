//! What a table cannot be or have, but for the types of its columns.

use sqlparser::ast::{
    AlterTableOperation, ColumnOption, CreateTable, ForeignKeyConstraint, Spanned, Statement, TableConstraint,
};

use super::Level;
use super::rule::{Confidence, Judged, Rule, Source, Wording, nothing};
use super::subject::{Found, Subject};

fn table<'a>(subject: &Subject<'a>) -> Option<&'a CreateTable> {
    match subject.statement() {
        Statement::CreateTable(table) => Some(table),
        _ => None,
    }
}

pub(super) static TEMPORARY: Rule = Rule {
    id: "temporary-table",
    sqlstate: "0A000",
    text: "TEMPORARY or TEMP table not supported for CREATE TABLE",
    wording: Wording::Reported,
    levels: Level::ALL,
    strict: false,
    judged: Judged::Statement,
    sources: &[Source::Documentation, Source::Measurement],
    confidence: Confidence::High,
    matches: "CREATE TEMPORARY TABLE",
    advice: "use WITH, or a table with a column that names the session",
    find: |subject| Found::when(table(subject).is_some_and(|table| table.temporary)),
};

pub(super) static UNLOGGED: Rule = Rule {
    id: "unlogged-table",
    text: "UNLOGGED table not supported for CREATE TABLE",
    judged: Judged::Text,
    matches: "CREATE UNLOGGED TABLE",
    advice: "leave UNLOGGED out",
    find: nothing,
    ..TEMPORARY
};

pub(super) static TABLE_AS: Rule = Rule {
    id: "create-table-as",
    text: "unsupported statement: CreateTableAs",
    matches: "CREATE TABLE AS, SELECT INTO and CREATE MATERIALIZED VIEW",
    advice: "create the table or a view; fill a table by INSERT … SELECT in batches",
    find: |subject| {
        let made = match subject.statement() {
            Statement::CreateTable(table) => table.query.is_some(),
            Statement::CreateView(view) => view.materialized,
            _ => false,
        };
        let into = subject.selects_into.iter().map(|span| Found::span("", *span));
        Found::when(made).into_iter().chain(into).collect()
    },
    ..TEMPORARY
};

pub(super) static PARTITIONED: Rule = Rule {
    id: "partition",
    text: "PARTITION BY clause not supported for CREATE TABLE",
    wording: Wording::Ours,
    matches: "CREATE TABLE … PARTITION BY or PARTITION OF",
    advice: "leave it out: rows are spread by their primary key",
    find: |subject| match table(subject) {
        Some(table) if table.partition_by.is_some() => vec![Found::words("", &["PARTITION", "BY"])],
        Some(table) if table.partition_of.is_some() => vec![Found::words("", &["PARTITION", "OF"])],
        _ => Vec::new(),
    },
    ..TEMPORARY
};

pub(super) static INHERITS: Rule = Rule {
    id: "inherits",
    text: "INHERITS not supported for CREATE TABLE",
    wording: Wording::Ours,
    sources: &[Source::Documentation],
    matches: "CREATE TABLE … INHERITS",
    advice: "repeat the columns",
    find: |subject| match table(subject) {
        Some(table) if table.inherits.is_some() => vec![Found::words("", &["INHERITS"])],
        _ => Vec::new(),
    },
    ..TEMPORARY
};

pub(super) static COLLATE: Rule = Rule {
    id: "collate",
    text: "COLLATE not supported for a column",
    wording: Wording::Ours,
    sources: &[Source::Documentation, Source::Linter],
    matches: "COLLATE on a column, \"C\" included; in ORDER BY it is taken",
    advice: "leave it out: the database has the collation C",
    find: |subject| {
        let columns = subject.columns().into_iter();
        let collations =
            columns.flat_map(|column| &column.options).filter_map(|option| match &option.option {
                ColumnOption::Collation(name) => Some(name.span()),
                _ => None,
            });
        collations.map(|span| Found::span("", span)).collect()
    },
    ..TEMPORARY
};

pub(super) static FOREIGN_KEY: Rule = Rule {
    id: "foreign-key",
    text: "FOREIGN KEY constraint not supported",
    levels: &[Level::L2025_05],
    sources: &[Source::ReleaseNotes, Source::Measurement],
    matches: "REFERENCES or FOREIGN KEY",
    advice: "leave it out; read the referenced row FOR UPDATE in the transaction that refers to it",
    find: |subject| {
        let of_columns = subject.columns().into_iter().flat_map(|column| &column.options);
        let of_columns = of_columns.filter_map(|option| match &option.option {
            ColumnOption::ForeignKey(key) => Some(key),
            _ => None,
        });
        let keys =
            of_columns.chain(constraints(subject).into_iter().filter_map(|constraint| match constraint {
                TableConstraint::ForeignKey(key) => Some(key),
                _ => None,
            }));
        keys.map(|key: &ForeignKeyConstraint| Found::span("", key.foreign_table.span())).collect()
    },
    ..TEMPORARY
};

fn constraints<'a>(subject: &Subject<'a>) -> Vec<&'a TableConstraint> {
    match subject.statement() {
        Statement::CreateTable(table) => table.constraints.iter().collect(),
        Statement::AlterTable(table) => {
            let added = table.operations.iter().filter_map(|operation| match operation {
                AlterTableOperation::AddConstraint { constraint, .. } => Some(constraint),
                _ => None,
            });
            added.collect()
        }
        _ => Vec::new(),
    }
}
