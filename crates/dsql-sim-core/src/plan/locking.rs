//! `SELECT … FOR UPDATE` and `FOR KEY SHARE`: a read without the clause, and a statement that says at COMMIT what was
//! locked.

use std::sync::Arc;

use sqlparser::{
    ast::{LockClause, LockType, Query, Select, SelectItem, SetExpr, Statement},
    dialect::PostgreSqlDialect,
    parser::Parser,
};

use super::{
    capture::Capture,
    names::{Source, folded, sources},
};
use crate::{
    catalogue::{Table, quoted},
    intents::Strength,
};

/// A locking read.
#[derive(Clone, Debug)]
pub(crate) struct Locking {
    /// The query without its locking clause.
    pub(crate) read: Arc<str>,
    pub(crate) touches: Vec<Touch>,
    /// Every column of the primary key is fixed by equality: the documented shape.
    pub(crate) is_keyed: bool,
}

/// A statement that conflicts, in PostgreSQL, with what the lock conflicts with in DSQL; what it cannot express is
/// captured.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) sql: Arc<str>,
    pub(crate) capture: Capture,
}

/// The name of the locked table inside a touch.
const LOCKED: &str = "leasehold_locked";

/// The locking clauses of a statement, where it has any.
pub(super) fn clauses(statement: &Statement) -> &[LockClause] {
    match statement {
        Statement::Query(query) => &query.locks,
        _ => &[],
    }
}

/// The plain tables that the clauses lock, each with the strength.
pub(super) fn locked(statement: &Statement) -> Vec<(Source, Strength)> {
    let Statement::Query(query) = statement else { return Vec::new() };
    let SetExpr::Select(select) = &*query.body else { return Vec::new() };
    let tables = sources(&select.from);
    let mut found = Vec::new();
    for clause in &query.locks {
        let strength = match clause.lock_type {
            LockType::KeyShare => Strength::KeyShare,
            _ => Strength::Key,
        };
        let of = clause.of.as_ref().and_then(|name| name.0.last()?.as_ident().map(folded));
        let chosen = tables.iter().filter(|table| of.as_ref().is_none_or(|of| is_named(table, of)));
        found.extend(chosen.map(|table| (table.clone(), strength)));
    }
    found
}

fn is_named(source: &Source, name: &str) -> bool {
    source.qualifier.trim_matches('"').eq_ignore_ascii_case(name)
}

impl Locking {
    /// `tables` are those of [`locked`] that are stored.
    pub(super) fn new(query: &Query, tables: &[(Source, Strength, Arc<Table>)], fixed: &[String]) -> Locking {
        let is_keyed = tables.iter().all(|(_, _, table)| table.is_keyed_by(fixed));
        let mut read = query.clone();
        read.locks.clear();
        let touches = tables.iter().filter_map(|(source, strength, table)| {
            let SetExpr::Select(select) = &*query.body else { return None };
            match strength {
                Strength::Key | Strength::Insert => update(&read, select, source, table),
                Strength::KeyShare => key_share(&read, select, source, table),
            }
        });
        let touches = touches.collect();
        Locking { read: read.to_string().into(), touches, is_keyed }
    }
}

/// A write that changes nothing: whoever writes or locks the row after it conflicts with it, and it with them.
fn update(read: &Query, select: &Select, source: &Source, table: &Table) -> Option<Touch> {
    let column = quoted(&table.columns.first()?.name);
    let rows = selecting(read, select, &format!("{}.ctid", source.qualifier), Vec::new())?;
    let capture = Capture::new(false).rows(Strength::Key, table.row_names(LOCKED));
    let returning = capture.expressions().map(|added| format!(" RETURNING {added}")).unwrap_or_default();
    let sql = format!(
        "UPDATE {name} AS {LOCKED} SET {column} = {LOCKED}.{column} WHERE {LOCKED}.ctid = ANY (ARRAY({rows})){returning}",
        name = source.name
    );
    Some(Touch { sql: sql.into(), capture })
}

fn key_share(read: &Query, select: &Select, source: &Source, table: &Table) -> Option<Touch> {
    let capture = Capture::new(false).rows(Strength::KeyShare, table.row_names(&source.qualifier));
    let columns = capture.expressions().unwrap_or_else(|| "1".into());
    let of = Parser::new(&PostgreSqlDialect {})
        .try_with_sql(&source.qualifier)
        .ok()?
        .parse_object_name(false)
        .ok()?;
    let clause = LockClause { lock_type: LockType::KeyShare, of: Some(of), nonblock: None };
    let sql = selecting(read, select, &columns, vec![clause])?;
    Some(Touch { sql: sql.into(), capture })
}

/// The same rows, other columns.
fn selecting(read: &Query, select: &Select, columns: &str, locks: Vec<LockClause>) -> Option<String> {
    let expressions = Parser::new(&PostgreSqlDialect {})
        .try_with_sql(columns)
        .ok()?
        .parse_comma_separated(Parser::parse_expr)
        .ok()?;
    let projection = expressions.into_iter().map(SelectItem::UnnamedExpr).collect();
    let body = Box::new(SetExpr::Select(Box::new(Select { projection, ..select.clone() })));
    Some(Query { body, locks, ..read.clone() }.to_string())
}
