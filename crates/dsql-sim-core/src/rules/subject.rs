//! What a rule looks at, and what it answers.

use std::collections::HashMap;

use sqlparser::ast::{AlterTableOperation, ColumnDef, DataType, ObjectName, Statement};
use sqlparser::tokenizer::Span;

use super::locking::LockingRead;
use super::seen::Seen;
use super::{Parsed, Place};

/// A statement, where it stands, and what was seen inside it.
pub(super) struct Subject<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) place: Place,
    pub(super) known: &'a Known,
    /// Every function that is called, by its last name in lower case.
    pub(super) functions: &'a [(String, Span)],
    /// Every query with a locking clause.
    pub(super) locking: &'a [LockingRead],
    /// Every `SELECT … INTO`.
    pub(super) selects_into: &'a [Span],
}

/// The columns of tables that were made earlier in the same text.
#[derive(Default)]
pub(super) struct Known {
    types: HashMap<String, HashMap<String, DataType>>,
}

/// One thing that a rule matches.
pub(super) struct Found {
    /// Goes into the rule's text.
    pub(super) detail: String,
    pub(super) at: At,
}

/// Where it is.
pub(super) enum At {
    /// Nothing better than the whole statement.
    Statement,
    Span(Span),
    /// The first place in the statement where these words follow each other; parse trees do not keep all places.
    Words(&'static [&'static str]),
}

impl<'a> Subject<'a> {
    pub(super) fn new(parsed: &'a Parsed, place: Place, known: &'a Known) -> Self {
        let Seen { functions, locking, selects_into, .. } = &parsed.seen;
        Subject { parsed, place, known, functions, locking, selects_into }
    }

    pub(super) fn statement(&self) -> &'a Statement {
        &self.parsed.statement
    }

    /// The columns that the statement makes.
    pub(super) fn columns(&self) -> Vec<&'a ColumnDef> {
        match self.statement() {
            Statement::CreateTable(table) => table.columns.iter().collect(),
            Statement::AlterTable(table) => {
                let added = table.operations.iter().filter_map(|operation| match operation {
                    AlterTableOperation::AddColumn { column_def, .. } => Some(column_def),
                    _ => None,
                });
                added.collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Known {
    /// Remembers the columns that a statement makes.
    pub(super) fn learn(&mut self, statement: &Statement) {
        if let Statement::CreateTable(table) = statement {
            let columns = table.columns.iter();
            let types = columns.map(|column| (folded(&column.name), column.data_type.clone())).collect();
            self.types.insert(last_name(&table.name), types);
        }
    }

    pub(super) fn type_of(&self, table: &ObjectName, column: &str) -> Option<&DataType> {
        self.types.get(&last_name(table))?.get(column)
    }
}

impl Found {
    pub(super) fn whole(detail: impl Into<String>) -> Self {
        Found { detail: detail.into(), at: At::Statement }
    }

    pub(super) fn span(detail: impl Into<String>, span: Span) -> Self {
        Found { detail: detail.into(), at: At::Span(span) }
    }

    pub(super) fn words(detail: impl Into<String>, words: &'static [&'static str]) -> Self {
        Found { detail: detail.into(), at: At::Words(words) }
    }

    /// One finding about the whole statement if it is so.
    pub(super) fn when(so: bool) -> Vec<Self> {
        if so { vec![Found::whole("")] } else { Vec::new() }
    }
}

/// A name as PostgreSQL folds it.
pub(super) fn folded(name: &sqlparser::ast::Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
}

/// The part of a name after its schema, folded.
pub(super) fn last_name(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(folded).unwrap_or_default()
}
