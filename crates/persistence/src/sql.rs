//! Statements that may differ by dialect, and columns read from their rows.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;

use crate::{Error, Result};

/// A statement. Where PostgreSQL and DSQL need different words there are two files, `<name>.postgres.sql` and
/// `<name>.dsql.sql`; else one, `<name>.sql`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sql {
    pub(crate) postgres: &'static str,
    pub(crate) dsql: &'static str,
}

impl Sql {
    pub(crate) const fn same(sql: &'static str) -> Self {
        Self { postgres: sql, dsql: sql }
    }
}

/// A column that the statement is known to have.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T> {
    row.try_get(name).map_err(|error| Error::Corrupt { what: name.to_owned(), reason: error.to_string() })
}
