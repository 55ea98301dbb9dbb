//! What the catalogue says is there.

use std::collections::BTreeMap;

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::{Operation, Parameters, Policy, Pool, Statement};

use super::Schema;
use super::shape::Column;
use crate::sql::column;
use crate::{Error, Result};

const LOOK: Operation = Operation::new("state.look_at_schema");
const COLUMNS: &str = include_str!("sql/columns.sql");
const INDEXES: &str = include_str!("sql/indexes.sql");
const SEED: &str = include_str!("sql/seed.sql");
const RECORDED: &str = include_str!("sql/version.sql");

/// All that was found of what is wanted.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tables: BTreeMap<String, FoundTable>,
    pub(super) has_seed: bool,
    pub(super) version: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct FoundTable {
    pub(super) columns: Vec<Column>,
    /// Where `columns` has the column of a number.
    numbers: BTreeMap<i32, usize>,
    pub(super) indexes: Vec<FoundIndex>,
}

#[derive(Debug)]
pub(super) struct FoundIndex {
    pub(super) name: String,
    /// In order; nothing for an expression.
    pub(super) columns: Vec<String>,
    pub(super) is_unique: bool,
    pub(super) is_primary: bool,
    pub(super) is_valid: bool,
    /// Over all rows, and over nothing but columns.
    pub(super) is_plain: bool,
}

impl Schema {
    /// Looks at the database. Changes nothing.
    pub(super) async fn look(&self, pool: &Pool, policy: &Policy) -> Result<Found> {
        let names: Vec<&str> = self.tables().iter().map(|table| table.name).collect();
        let mut found = Found::default();
        for row in read(pool, policy, COLUMNS, &[&names]).await? {
            let table = found.tables.entry(column(&row, "table_name")?).or_default();
            table.numbers.insert(column(&row, "number")?, table.columns.len());
            table.columns.push(Column {
                name: column(&row, "name")?,
                kind: column(&row, "kind")?,
                is_nullable: column(&row, "is_nullable")?,
                has_default: column(&row, "has_default")?,
            });
        }
        for row in read(pool, policy, INDEXES, &[&names]).await? {
            // A table that was made between the two reads is found by the next look.
            if let Some(table) = found.tables.get_mut(&column::<String>(&row, "table_name")?) {
                let index = index(table, &row)?;
                table.indexes.push(index);
            }
        }
        if found.tables.contains_key("namespace_metadata") {
            found.has_seed = !read(pool, policy, SEED, &[]).await?.is_empty();
        }
        if found.tables.contains_key("schema_version") {
            let rows = read(pool, policy, RECORDED, &[]).await?;
            found.version = rows.first().map(|row| column(row, "version")).transpose()?.flatten();
        }
        Ok(found)
    }
}

async fn read(pool: &Pool, policy: &Policy, sql: &str, values: Parameters<'_>) -> Result<Vec<Row>> {
    let rows = Statement::read(LOOK, sql).query(pool, policy, values).await;
    rows.map_err(|error| Error::of(LOOK, error))
}

fn index(table: &FoundTable, row: &Row) -> Result<FoundIndex> {
    let key: String = column(row, "key")?;
    let key_len = usize::try_from(column::<i32>(row, "key_len")?).unwrap_or_default();
    let columns = key.split_whitespace().take(key_len).map(|number| {
        let at = number.parse().ok().and_then(|number: i32| table.numbers.get(&number));
        at.map(|at| table.columns[*at].name.clone()).unwrap_or_default()
    });
    Ok(FoundIndex {
        name: column(row, "name")?,
        columns: columns.collect(),
        is_unique: column(row, "is_unique")?,
        is_primary: column(row, "is_primary")?,
        is_valid: column(row, "is_valid")?,
        is_plain: column(row, "is_plain")?,
    })
}

impl FoundTable {
    /// Whether an index does what the wanted one would. A unique one serves where a plain one is enough.
    pub(super) fn has(&self, wanted: &super::shape::Index) -> bool {
        self.indexes.iter().any(|index| {
            index.is_valid
                && index.is_plain
                && index.columns == wanted.columns
                && (index.is_unique || !wanted.is_unique)
        })
    }
}
