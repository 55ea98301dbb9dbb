//! The version of the table.

use leasehold_txn::{Abort, Operation, Transaction};

use super::Endpoints;
use crate::sql::{Sql, column};
use crate::{Error, Result};

const GET_VERSION: Operation = Operation::new("state.get_nexus_table_version");
const SELECT_VERSION: Sql = Sql::same(include_str!("sql/select_version.sql"));
const INSERT_VERSION: &str = include_str!("sql/insert_version.sql");
const RAISE_VERSION: &str = include_str!("sql/raise_version.sql");

impl Endpoints {
    /// The version that the next change must name; 0 before the first.
    ///
    /// # Errors
    /// As every read.
    pub async fn table_version(&self) -> Result<i64> {
        let rows = self.database.read(GET_VERSION, SELECT_VERSION, &[]).await?;
        rows.first().map_or(Ok(0), |row| column(row, "version"))
    }
}

/// Raises the version from `known`, or makes it. Nobody does so twice from the same version.
pub(super) async fn raise(tx: &Transaction<'_>, known: i64) -> Result<(), Abort<Error>> {
    let touched = match known {
        0 => tx.execute(INSERT_VERSION, &[]).await?,
        known => tx.execute(RAISE_VERSION, &[&known]).await?,
    };
    if touched == 1 {
        return Ok(());
    }
    let row = tx.query_opt(SELECT_VERSION.postgres, &[]).await?;
    let actual = row.map(|row| column(&row, "version")).transpose().map_err(Abort::Condition)?;
    Err(Abort::Condition(differs(known, actual)))
}

pub(super) const fn differs(expected: i64, actual: Option<i64>) -> Error {
    Error::ConditionFailed {
        what: "the version of the table of nexus endpoints",
        expected: Some(expected),
        actual,
    }
}
