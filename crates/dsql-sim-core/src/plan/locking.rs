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
    names::{Source, factors, folded, source},
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
    /// What it locks are tables, so that there are touches for all of it.
    pub(crate) is_stored: bool,
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

/// The query of a statement, where it locks rows.
pub(super) fn query(statement: &Statement) -> Option<&Query> {
    match statement {
        Statement::Query(query) if !query.locks.is_empty() => Some(query),
        _ => None,
    }
}

/// The tables that the clauses lock, each with the strength; none where one of them locks something else, or nothing.
pub(super) fn locked(query: &Query) -> Option<Vec<(Source, Strength)>> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let mut found = Vec::new();
    for clause in &query.locks {
        let strength = match clause.lock_type {
            LockType::KeyShare => Strength::KeyShare,
            _ => Strength::Key,
        };
        let chosen: Vec<Source> = match clause.of.as_ref().and_then(|name| name.0.last()?.as_ident()) {
            Some(of) => {
                factors(&select.from).filter_map(source).filter(|it| is_named(it, &folded(of))).collect()
            }
            None => factors(&select.from).map(source).collect::<Option<_>>()?,
        };
        if chosen.is_empty() || chosen.iter().any(|source| is_part(query, source)) {
            return None;
        }
        found.extend(chosen.into_iter().map(|source| (source, strength)));
    }
    Some(found)
}

/// Whether the name is that of a `WITH` part, which hides a table of the same name.
fn is_part(query: &Query, source: &Source) -> bool {
    let [name] = source.name.0.as_slice() else { return false };
    let mut parts = query.with.iter().flat_map(|with| &with.cte_tables);
    parts.any(|part| name.as_ident().is_some_and(|name| folded(name) == folded(&part.alias.name)))
}

fn is_named(source: &Source, name: &str) -> bool {
    source.qualifier.trim_matches('"').eq_ignore_ascii_case(name)
}

impl Locking {
    /// `tables` are those of [`locked`] that are stored, `is_stored` whether that is all it locks.
    pub(super) fn new(
        query: &Query,
        tables: &[(Source, Strength, Arc<Table>)],
        is_stored: bool,
        fixed: &[String],
    ) -> Locking {
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
        Locking { read: read.to_string().into(), touches, is_stored, is_keyed }
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
