//! Statements of one transaction that travel together.

use futures_util::future::join_all;
use leasehold_txn::tokio_postgres::types::ToSql;
use leasehold_txn::{DatabaseError, Transaction};

/// A value of a statement.
pub(crate) type Value<'r> = Box<dyn ToSql + Sync + Send + 'r>;

/// One statement, its values, and how many rows it must touch if that is known.
pub(crate) struct Step<'r> {
    pub(crate) sql: &'static str,
    pub(crate) values: Vec<Value<'r>>,
    pub(crate) expected: Option<(u64, Miss)>,
}

/// Which row was not as it had to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    CurrentExecution,
    Execution,
    NewExecution,
    HistoryTask,
}

/// Sends all steps at once. No step may depend on another: where a connection sees a statement for the first time it
/// prepares it, and those behind it that are prepared overtake it.
///
/// Of several that fail the first in the order of the steps is told.
pub(crate) async fn execute_together(
    tx: &Transaction<'_>,
    steps: &[Step<'_>],
) -> Result<Option<Miss>, DatabaseError> {
    let values: Vec<Vec<&(dyn ToSql + Sync)>> = steps
        .iter()
        .map(|step| step.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect())
        .collect();
    let answers =
        join_all(steps.iter().zip(&values).map(|(step, values)| tx.execute(step.sql, values))).await;
    for (step, answer) in steps.iter().zip(answers) {
        let touched = answer?;
        if let Some((expected, miss)) = step.expected
            && touched != expected
        {
            return Ok(Some(miss));
        }
    }
    Ok(None)
}
