//! Deletes a run and all its parts.

use leasehold_txn::{Abort, Operation};

use super::Executions;
use super::key::ExecutionKey;
use super::maps::{ACTIVITIES, CHASM_NODES, CHILDREN, REQUEST_CANCELS, SIGNALS, SIGNALS_REQUESTED, TIMERS};
use super::writes::DELETE_BUFFERED_EVENTS;
use crate::batch::{Step, Value, execute_together};
use crate::sql::{Sql, column};
use crate::{Error, Result};

const DELETE: Operation = Operation::new("state.delete_execution");
const DELETE_EXECUTION: Sql = Sql::same(include_str!("sql/delete_execution.sql"));
const DELETE_SOME_BUFFERED_EVENTS: Sql = Sql::same(include_str!("sql/delete_some_buffered_events.sql"));
const SELECT_LEFTOVERS: &str = include_str!("sql/select_leftovers.sql");

/// The tables of a run's parts, in the order in which they are emptied.
const DELETE_SOME: [Sql; 8] = [
    CHILDREN.delete_some,
    ACTIVITIES.delete_some,
    REQUEST_CANCELS.delete_some,
    SIGNALS.delete_some,
    TIMERS.delete_some,
    SIGNALS_REQUESTED.delete_some,
    CHASM_NODES.delete_some,
    DELETE_SOME_BUFFERED_EVENTS,
];
/// How often parts that came while others were deleted are deleted too.
const ROUNDS_MAX: usize = 16;

impl Executions {
    /// Deletes the run with its entries and buffered events. Neither its history nor the record of the current execution
    /// goes with it. A run that is not there, or only in part, is a success as well.
    ///
    /// On DSQL a run with more parts than fit a transaction goes in several, its own row last.
    ///
    /// Dropped midway, it may have happened, or in part: deleting it again is safe.
    ///
    /// # Errors
    /// As every write; [`Error::ConditionFailed`] when somebody kept adding parts.
    pub async fn delete(&self, key: &ExecutionKey) -> Result<()> {
        match self.delete_at_once(key).await {
            Err(Error::TransactionSizeLimit { .. }) if self.database.is_dsql() => {
                self.delete_in_batches(key).await
            }
            answer => answer,
        }
    }

    async fn delete_at_once(&self, key: &ExecutionKey) -> Result<()> {
        let step = |sql: Sql, ids: Option<Value<'static>>| {
            let mut values = key.values();
            values.extend(ids);
            Step { sql: self.database.words(sql), values, expected: None }
        };
        // Nothing is retained.
        let events = || Some(Box::new(Vec::<i64>::new()) as Value<'_>);
        let names = || Some(Box::new(Vec::<&str>::new()) as Value<'_>);
        let paths = || Some(Box::new(Vec::<super::ChasmPath>::new()) as Value<'_>);
        let steps = &[
            step(CHILDREN.retain, events()),
            step(ACTIVITIES.retain, events()),
            step(REQUEST_CANCELS.retain, events()),
            step(SIGNALS.retain, events()),
            step(TIMERS.retain, names()),
            step(SIGNALS_REQUESTED.retain, names()),
            step(CHASM_NODES.retain, paths()),
            step(DELETE_BUFFERED_EVENTS, None),
            step(DELETE_EXECUTION, None),
        ];
        self.database
            .run(DELETE, |tx| {
                Box::pin(async move {
                    execute_together(tx, steps).await?;
                    Ok(())
                })
            })
            .await
    }

    async fn delete_in_batches(&self, key: &ExecutionKey) -> Result<()> {
        for _ in 0..ROUNDS_MAX {
            for sql in DELETE_SOME {
                self.database.delete_in_batches(DELETE, sql, &key.columns(), u64::MAX).await?;
            }
            if self.delete_without_parts(key).await? {
                return Ok(());
            }
        }
        Err(Error::ConditionFailed { what: "execution", expected: None, actual: None })
    }

    /// Deletes the row of the run if it has no parts. Whoever adds one writes the row too, and so conflicts with this.
    async fn delete_without_parts(&self, key: &ExecutionKey) -> Result<bool> {
        let delete = self.database.words(DELETE_EXECUTION);
        self.database
            .run(DELETE, |tx| {
                Box::pin(async move {
                    let row = tx.query_one(SELECT_LEFTOVERS, &key.columns()).await?;
                    if column(&row, "is_left").map_err(Abort::Condition)? {
                        return Ok(false);
                    }
                    tx.execute(delete, &key.columns()).await?;
                    Ok(true)
                })
            })
            .await
    }
}
