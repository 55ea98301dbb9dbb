//! Makes the rows that keep ack levels.

use leasehold_txn::Operation;

use super::{Line, Queue};
use crate::sql::Sql;
use crate::{Blob, Result};

const INIT: Operation = Operation::new("state.init_queue");
const INSERT_METADATA: Sql = Sql::same(include_str!("sql/insert_metadata.sql"));

impl Queue {
    /// Makes the queue and its dead letters ready for use, with `blob` as the ack levels of both to begin with. What is
    /// there already stays as it is. Several may do so at once.
    ///
    /// # Errors
    /// As every write.
    pub async fn init(&self, blob: &Blob) -> Result<()> {
        self.line.init(blob).await?;
        self.line.dead().init(blob).await
    }
}

impl Line {
    async fn init(&self, blob: &Blob) -> Result<()> {
        match self.ack_levels().await {
            Err(crate::Error::Missing { .. }) => {}
            found => return found.map(drop),
        }
        let values: leasehold_txn::Parameters<'_> = &[&self.number, &blob.data(), &blob.encoding()];
        match self.database.write(INIT, INSERT_METADATA, values).await {
            Err(error) if error.is_duplicate() => Ok(()),
            made => made.map(drop),
        }
    }
}
