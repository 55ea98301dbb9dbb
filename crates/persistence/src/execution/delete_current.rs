//! Forgets which run is the current one.

use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::types::ToSql;

use super::Executions;
use super::current::CurrentSql;
use super::key::CurrentKey;
use crate::{Result, RunId};

const DELETE_CURRENT: Operation = Operation::new("state.delete_current_execution");

impl Executions {
    /// Deletes the record of the current execution if it is of this run. Where it is of another, or there is none, that is
    /// a success as well.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete_current(&self, key: &CurrentKey, run_id: RunId) -> Result<()> {
        let values = key.values();
        let mut values: Vec<_> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        values.push(&run_id);
        self.database.write(DELETE_CURRENT, CurrentSql::of(key).delete, &values).await?;
        Ok(())
    }
}
