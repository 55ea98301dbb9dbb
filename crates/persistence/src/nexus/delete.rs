//! Deletes an endpoint.

use leasehold_txn::{Abort, Operation};

use super::{Endpoints, table_version};
use crate::{EndpointId, Error, Result};

const DELETE_ENDPOINT: Operation = Operation::new("state.delete_nexus_endpoint");
const DELETE: &str = include_str!("sql/delete.sql");

impl Endpoints {
    /// Deletes an endpoint if the table is at `table_version`, which is one higher then.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version of the table differs, [`Error::NotFound`] when there is no such endpoint.
    pub async fn delete(&self, id: EndpointId, table_version: i64) -> Result<()> {
        if table_version == 0 {
            // A table that nobody changed has nothing in it, and raising from 0 would make its version.
            let actual = self.table_version().await?;
            return Err(match actual {
                0 => Error::NotFound { what: "nexus endpoint" },
                actual => table_version::differs(0, Some(actual)),
            });
        }
        self.database
            .run_patiently(DELETE_ENDPOINT, |tx| {
                Box::pin(async move {
                    table_version::raise(tx, table_version).await?;
                    match tx.execute(DELETE, &[&id]).await? {
                        1 => Ok(()),
                        _ => Err(Abort::Condition(Error::NotFound { what: "nexus endpoint" })),
                    }
                })
            })
            .await
    }
}
