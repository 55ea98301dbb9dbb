//! What is inside a statement, collected in one walk. There is one kind of walk only: the compiler makes each kind for
//! every type of the parse tree.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, ObjectName, Query, Select, Spanned, Statement, TableFactor, UtilityOption, Visit, Visitor,
};
use sqlparser::tokenizer::Span;

use super::locking::{LockingRead, column};
use super::subject::last_name;

/// What was seen inside a statement, in the order of its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Every table that the parser marks as such, as often as it is named.
    pub(crate) relations: Vec<ObjectName>,
    /// Every function that is called, by its last name in lower case.
    pub(super) functions: Vec<(String, Span)>,
    /// Every query with a locking clause.
    pub(super) locking: Vec<LockingRead>,
    /// Every `SELECT … INTO`.
    pub(super) selects_into: Vec<Span>,
    /// A statement that writes is in it, or is it.
    pub(super) writes: bool,
}

impl Seen {
    pub(super) fn of(statement: &Statement) -> Seen {
        let mut walk = Walk { outermost: outermost(statement), ..Walk::default() };
        let _ = statement.visit(&mut walk);
        let mut seen = walk.seen;
        if seen.writes && matches!(statement, Statement::Query(_)) {
            seen.locking.iter_mut().for_each(LockingRead::stand_beside_a_write);
        }
        seen
    }
}

/// Whether a column is named anywhere in an expression.
pub(super) fn names_column(expr: &Expr) -> bool {
    expr.visit(&mut Walk { stops_at_column: true, ..Walk::default() }).is_break()
}

/// The query whose rows are those of the statement. EXPLAIN only looks at it, unless it is to be run.
fn outermost(statement: &Statement) -> Option<&Query> {
    match statement {
        Statement::Query(query) => Some(query),
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
struct Walk<'a> {
    outermost: Option<&'a Query>,
    seen: Seen,
    /// Only asks whether there is a column.
    stops_at_column: bool,
}

impl Visitor for Walk<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        // A locking read walks through its own condition, which must not start such walks again.
        if !self.stops_at_column {
            let is_outermost = self.outermost.is_some_and(|outermost| std::ptr::eq(outermost, query));
            self.seen.locking.extend(LockingRead::of(query, is_outermost));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.seen.selects_into.extend(select.into.as_ref().map(|into| into.name.span()));
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.seen.relations.push(relation.clone());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
            self.seen.functions.push((last_name(name), name.span()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.stops_at_column && column(expr).is_some() {
            return ControlFlow::Break(());
        }
        if let Expr::Function(function) = expr {
            self.seen.functions.push((last_name(&function.name), function.name.span()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        match statement {
            Statement::Call(function) => {
                self.seen.functions.push((last_name(&function.name), function.name.span()));
            }
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_) => {
                self.seen.writes = true;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
