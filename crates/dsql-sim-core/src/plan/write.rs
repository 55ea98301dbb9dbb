//! INSERT, UPDATE and DELETE: what to capture of the rows they write, and what to answer when they lost.

use std::sync::Arc;

use sqlparser::ast::{
    Assignment, AssignmentTarget, Delete, Expr, FromTable, Insert, OnConflictAction, OnInsert, Query,
    SetExpr, Statement, TableObject, TableWithJoins, Update, UpdateTableFromKind,
};

use super::{
    capture::Capture,
    locking::Touch,
    names::{Source, folded, source},
};
use crate::{catalogue::Table, intents::Strength};

/// A statement that writes one table, or several through `WITH`.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    /// The text with the captured columns.
    pub(crate) sql: Arc<str>,
    pub(crate) capture: Capture,
    pub(crate) shadow: Shadow,
    /// Asked before it: the names its rows have until then, where it may give them others.
    pub(crate) former: Option<Touch>,
}

/// What a statement answers after its transaction lost: what it would have done in its own snapshot.
#[derive(Clone, Debug)]
pub(crate) enum Shadow {
    /// The tag of this verb with the count that a query gives.
    Count(&'static str, Arc<str>),
    /// An INSERT of this many rows.
    Inserted(usize),
    /// It cannot be told: the statement itself reports the conflict.
    None,
}

/// The table written by a statement that has one, looked up by the caller.
pub(super) fn target(statement: &Statement) -> Option<Source> {
    match statement {
        Statement::Insert(insert) => {
            let TableObject::TableName(name) = &insert.table else { return None };
            let own = || name.0.last().map(ToString::to_string);
            let qualifier = insert.table_alias.as_ref().map(|alias| alias.alias.to_string()).or_else(own)?;
            Some(Source { name: name.clone(), qualifier })
        }
        Statement::Update(update) => source(&update.table.relation),
        Statement::Delete(delete) => source(&deleted(delete)?.relation),
        Statement::Query(query) => target(written(query)?),
        _ => None,
    }
}

/// The statement after a `WITH`.
fn written(query: &Query) -> Option<&Statement> {
    match &*query.body {
        SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) => {
            Some(statement)
        }
        _ => None,
    }
}

fn deleted(delete: &Delete) -> Option<&TableWithJoins> {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    from.first()
}

impl Write {
    /// `table` is the target, where it is a stored one.
    pub(super) fn new(sql: &str, statement: &Statement, target: Option<(&Source, &Table)>) -> Write {
        let (inner, is_plain) = match statement {
            Statement::Query(query) => (written(query), false),
            other => (Some(other), true),
        };
        let shadow = if is_plain { Shadow::of(statement) } else { Shadow::None };
        let (Some((source, table)), Some(inner)) = (target, inner) else {
            return Write { sql: sql.into(), capture: Capture::default(), shadow, former: None };
        };
        let capture = capture(inner, &source.qualifier, table);
        let former = match statement {
            Statement::Update(update) => former(update, source, table),
            _ => None,
        };
        let sql = match capture.expressions() {
            Some(added) if returns(inner) => format!("{sql}\n, {added}"),
            Some(added) => format!("{sql}\nRETURNING {added}"),
            None => sql.to_owned(),
        };
        Write { sql: sql.into(), capture, shadow, former }
    }
}

fn returns(statement: &Statement) -> bool {
    match statement {
        Statement::Insert(insert) => insert.returning.is_some(),
        Statement::Update(update) => update.returning.is_some(),
        Statement::Delete(delete) => delete.returning.is_some(),
        _ => false,
    }
}

fn capture(statement: &Statement, qualifier: &str, table: &Table) -> Capture {
    let capture = Capture::new(returns(statement));
    let sets_key = |assignments: &[Assignment]| assigned(assignments).any(|column| table.is_key(&column));
    match statement {
        Statement::Insert(insert) => {
            let capture = capture
                .bytes(table.bytes_expression(qualifier))
                .rows(Strength::Insert, table.row_names(qualifier))
                .rows(Strength::KeyShare, table.parent_names(qualifier));
            match &insert.on {
                Some(OnInsert::OnConflict(conflict)) => match &conflict.action {
                    OnConflictAction::DoUpdate(update) if sets_key(&update.assignments) => {
                        capture.rows(Strength::Key, table.row_names(qualifier))
                    }
                    _ => capture,
                },
                _ => capture,
            }
        }
        Statement::Update(update) => {
            let capture = capture
                .bytes(table.bytes_expression(qualifier))
                .rows(Strength::KeyShare, table.parent_names(qualifier));
            // By the SET list and not by values, which is how DSQL's documentation reads.
            if sets_key(&update.assignments) {
                capture.rows(Strength::Key, table.row_names(qualifier))
            } else {
                capture
            }
        }
        Statement::Delete(_) => capture.rows(Strength::Key, table.row_names(qualifier)),
        _ => capture,
    }
}

/// RETURNING has the names that rows were given; others know them by those they had.
fn former(update: &Update, source: &Source, table: &Table) -> Option<Touch> {
    if !assigned(&update.assignments).any(|column| table.is_name(&column)) {
        return None;
    }
    let capture = Capture::new(false).rows(Strength::Key, table.row_names(&source.qualifier));
    let sql = format!("SELECT {} {}", capture.expressions()?, found_by(update));
    Some(Touch { sql: sql.into(), capture })
}

/// From FROM on, a query for the rows that an UPDATE finds, with those it joins them to.
fn found_by(update: &Update) -> String {
    let more = match &update.from {
        Some(UpdateTableFromKind::AfterSet(from) | UpdateTableFromKind::BeforeSet(from)) => from.as_slice(),
        None => &[],
    };
    rows_of(&update.table, more, update.selection.as_ref())
}

fn rows_of(table: &TableWithJoins, more: &[TableWithJoins], selection: Option<&Expr>) -> String {
    let from: Vec<String> = std::iter::once(table).chain(more).map(ToString::to_string).collect();
    let condition = selection.map(|selection| format!(" WHERE {selection}")).unwrap_or_default();
    format!("FROM {}{condition}", from.join(", "))
}

fn assigned(assignments: &[Assignment]) -> impl Iterator<Item = String> {
    let names = assignments.iter().flat_map(|assignment| match &assignment.target {
        AssignmentTarget::ColumnName(name) => std::slice::from_ref(name).iter(),
        AssignmentTarget::Tuple(names) => names.iter(),
    });
    names.filter_map(|name| name.0.first()?.as_ident().map(folded))
}

impl Shadow {
    fn of(statement: &Statement) -> Shadow {
        match statement {
            Statement::Insert(insert) => Shadow::of_insert(insert),
            Statement::Update(update) if update.returning.is_none() => Shadow::of_update(update),
            Statement::Delete(delete) if delete.returning.is_none() => Shadow::of_delete(delete),
            _ => Shadow::None,
        }
    }

    fn of_insert(insert: &Insert) -> Shadow {
        let plain = insert.on.is_none() && insert.returning.is_none();
        match insert.source.as_deref().map(|source| &*source.body) {
            Some(SetExpr::Values(values)) if plain => Shadow::Inserted(values.rows.len()),
            _ => Shadow::None,
        }
    }

    fn of_update(update: &Update) -> Shadow {
        Shadow::count("UPDATE", &update.table, &found_by(update))
    }

    fn of_delete(delete: &Delete) -> Shadow {
        let Some(table) = deleted(delete) else { return Shadow::None };
        let more = delete.using.as_deref().unwrap_or_default();
        Shadow::count("DELETE", table, &rows_of(table, more, delete.selection.as_ref()))
    }

    fn count(verb: &'static str, table: &TableWithJoins, rows: &str) -> Shadow {
        let Some(source) = source(&table.relation) else { return Shadow::None };
        Shadow::Count(verb, format!("SELECT count(DISTINCT {}.ctid) {rows}", source.qualifier).into())
    }
}
