//! Makes an endpoint, or changes one.

use leasehold_txn::{Abort, Operation, Transaction};

use super::{Endpoint, Endpoints, table_version};
use crate::sql::column;
use crate::{Error, Result};

const SAVE: Operation = Operation::new("state.save_nexus_endpoint");
const INSERT: &str = include_str!("sql/insert.sql");
const UPDATE: &str = include_str!("sql/update.sql");
const SELECT: &str = include_str!("sql/select.sql");

impl Endpoints {
    /// Stores an endpoint over the one that has its version, 0 for none yet, if the table is at `table_version`. Both are
    /// one higher then.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version of the table or of the endpoint differs.
    pub async fn save(&self, endpoint: &Endpoint, table_version: i64) -> Result<()> {
        self.database
            .run_patiently(SAVE, |tx| {
                Box::pin(async move {
                    // The table before the endpoint, always: two who lock them in turn wait for each other.
                    table_version::raise(tx, table_version).await?;
                    if write(tx, endpoint).await? == 1 {
                        return Ok(());
                    }
                    let stored = tx.query_opt(SELECT, &[&endpoint.id]).await?;
                    let actual = stored.map(|row| column(&row, "version")).transpose();
                    Err(Abort::Condition(Error::ConditionFailed {
                        what: "the nexus endpoint",
                        expected: Some(endpoint.version),
                        actual: actual.map_err(Abort::Condition)?,
                    }))
                })
            })
            .await
    }
}

async fn write(tx: &Transaction<'_>, endpoint: &Endpoint) -> Result<u64, Abort<Error>> {
    let Endpoint { id, blob, version } = endpoint;
    let (data, encoding) = (blob.data(), blob.encoding());
    Ok(match version {
        0 => tx.execute(INSERT, &[id, &data, &encoding]).await?,
        version => tx.execute(UPDATE, &[id, version, &data, &encoding]).await?,
    })
}
