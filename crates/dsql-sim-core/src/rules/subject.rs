//! What a rule looks at, and what it answers.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    AlterTableOperation, ColumnDef, DataType, Expr, ObjectName, Query, Select, Spanned, Statement,
    TableFactor, UtilityOption, Visit, Visitor,
};
use sqlparser::tokenizer::Span;

use super::locking::LockingRead;
use super::{Kind, Parsed, Place};

/// A statement, where it stands, and what was seen inside it.
pub(super) struct Subject<'a> {
    pub(super) parsed: &'a Parsed,
    pub(super) place: Place,
    pub(super) known: &'a Known,
    /// Every function that is called, by its last name in lower case.
    pub(super) functions: Vec<(String, Span)>,
    /// Every query with a locking clause.
    pub(super) locking: Vec<LockingRead>,
    /// Every `SELECT … INTO`.
    pub(super) selects_into: Vec<Span>,
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
        let mut seen = Seen { outermost: outermost(parsed), ..Seen::default() };
        let _ = parsed.statement.visit(&mut seen);
        let Seen { functions, locking, selects_into, .. } = seen;
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

/// The query whose rows are those of the statement. EXPLAIN only looks at it, unless it is to be run.
fn outermost(parsed: &Parsed) -> Option<&Query> {
    match &parsed.statement {
        Statement::Query(query) if parsed.kind == Kind::Select => Some(query),
        Statement::Explain { statement, analyze: false, options, .. } => match &**statement {
            Statement::Query(query) if !options.iter().flatten().any(is_analyze) => Some(query),
            _ => None,
        },
        _ => None,
    }
}

fn is_analyze(option: &UtilityOption) -> bool {
    option.name.value.eq_ignore_ascii_case("analyze")
}

#[derive(Default)]
struct Seen<'a> {
    outermost: Option<&'a Query>,
    functions: Vec<(String, Span)>,
    locking: Vec<LockingRead>,
    selects_into: Vec<Span>,
}

impl Visitor for Seen<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let is_outermost = self.outermost.is_some_and(|outermost| std::ptr::eq(outermost, query));
        self.locking.extend(LockingRead::of(query, is_outermost));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.selects_into.extend(select.into.as_ref().map(|into| into.name.span()));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
            self.functions.push((last_name(name), name.span()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr {
            self.functions.push((last_name(&function.name), function.name.span()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if let Statement::Call(function) = statement {
            self.functions.push((last_name(&function.name), function.name.span()));
        }
        ControlFlow::Continue(())
    }
}
