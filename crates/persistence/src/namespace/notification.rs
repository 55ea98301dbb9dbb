//! The version of all namespaces: one row that every change of any of them locks, compares and raises.

use leasehold_txn::{Abort, Operation, Transaction};

use super::Namespaces;
use crate::sql::{Sql, column};
use crate::{Error, Result};

const GET_VERSION: Operation = Operation::new("state.get_namespace_metadata");
const SELECT_VERSION: Sql = Sql::same(include_str!("sql/select_version.sql"));
const LOCK_VERSION: &str = include_str!("sql/lock_version.sql");
pub(super) const RAISE_VERSION: &str = include_str!("sql/raise_version.sql");

const MISSING: Error = Error::Missing { what: "the version of the namespaces" };

impl Namespaces {
    /// The version that the next change of a namespace must name.
    ///
    /// # Errors
    /// [`Error::Missing`] when the schema was not set up.
    pub async fn notification_version(&self) -> Result<i64> {
        let rows = self.database.read(GET_VERSION, SELECT_VERSION, &[]).await?;
        column(rows.first().ok_or(MISSING)?, "notification_version")
    }
}

/// The version, which nobody else changes before this transaction ends; where nobody waits, one of the two fails.
pub(super) async fn lock(tx: &Transaction<'_>) -> Result<i64, Abort<Error>> {
    let row = tx.query_opt(LOCK_VERSION, &[]).await?.ok_or(Abort::Condition(MISSING))?;
    column(&row, "notification_version").map_err(Abort::Condition)
}

/// What it means that raising the version touched so many rows.
pub(super) fn expect_raised(touched: u64, version: i64) -> Result<(), Abort<Error>> {
    match touched {
        1 => Ok(()),
        _ => Err(Abort::Condition(differs(version, None))),
    }
}

pub(super) const fn differs(expected: i64, actual: Option<i64>) -> Error {
    Error::ConditionFailed { what: "the version of the namespaces", expected: Some(expected), actual }
}
