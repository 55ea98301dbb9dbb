//! How far each cluster has read.

use leasehold_txn::Operation;

use super::{Line, Queue};
use crate::sql::{Sql, column};
use crate::{Blob, Error, Result};

const GET: Operation = Operation::new("state.get_ack_levels");
const UPDATE: Operation = Operation::new("state.update_ack_levels");
const SELECT_METADATA: Sql = Sql::same(include_str!("sql/select_metadata.sql"));
const UPDATE_METADATA: Sql = Sql::same(include_str!("sql/update_metadata.sql"));

/// The ack levels of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckLevels {
    /// The levels, in an encoding of the caller's.
    pub blob: Blob,
    /// How often they were stored.
    pub version: i64,
}

impl Queue {
    /// The ack levels.
    ///
    /// # Errors
    /// [`Error::Missing`] before [`init`](Self::init).
    pub async fn ack_levels(&self) -> Result<AckLevels> {
        self.line.ack_levels().await
    }

    /// Stores ack levels, if those that are stored have the version that comes with them; then it is one higher.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version differs, or before [`init`](Self::init).
    pub async fn update_ack_levels(&self, levels: &AckLevels) -> Result<()> {
        self.line.update_ack_levels(levels).await
    }
}

impl Line {
    pub(super) async fn ack_levels(&self) -> Result<AckLevels> {
        let rows = self.database.read(GET, SELECT_METADATA, &[&self.number]).await?;
        let row = rows.first().ok_or(Error::Missing { what: "the ack levels of the queue" })?;
        Ok(AckLevels { blob: Blob::of(row)?, version: column(row, "version")? })
    }

    pub(super) async fn update_ack_levels(&self, levels: &AckLevels) -> Result<()> {
        let AckLevels { blob, version } = levels;
        let values: leasehold_txn::Parameters<'_> = &[&self.number, version, &blob.data(), &blob.encoding()];
        if self.database.write(UPDATE, UPDATE_METADATA, values).await? == 1 {
            return Ok(());
        }
        // The answer stands whatever this look finds; it only makes it easier to understand.
        let actual = self.ack_levels().await.ok().map(|stored| stored.version);
        Err(Error::ConditionFailed { what: "the ack levels of the queue", expected: Some(*version), actual })
    }
}
