//! Stores what is known of a cluster, if it is as the caller last read it.

use leasehold_txn::{Abort, Operation};

use super::ClusterMetadatas;
use crate::sql::column;
use crate::{Blob, Error, Result, bounds};

const SAVE: Operation = Operation::new("state.save_cluster_metadata");
const LOCK_VERSION: &str = include_str!("sql/lock_version.sql");
const INSERT: &str = include_str!("sql/insert.sql");
const UPDATE: &str = include_str!("sql/update.sql");

impl ClusterMetadatas {
    /// Stores `blob` over what has the version `version`, 0 for nothing yet; the new version, one higher.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version differs, [`Error::InvalidRequest`] when the name is empty, longer than
    /// [`NAME_LEN_MAX`](crate::NAME_LEN_MAX) or has a zero byte in it.
    pub async fn save(&self, name: &str, blob: &Blob, version: i64) -> Result<i64> {
        bounds::name("cluster_name", name)?;
        let saved = self
            .database
            .run(SAVE, |tx| {
                Box::pin(async move {
                    let stored = tx.query_opt(LOCK_VERSION, &[&name]).await?;
                    let stored = stored.map(|row| column::<i64>(&row, "version")).transpose();
                    let stored = stored.map_err(Abort::Condition)?;
                    if stored.unwrap_or(0) != version {
                        return Err(Abort::Condition(differs(version, stored)));
                    }
                    let (data, encoding) = (blob.data(), blob.encoding());
                    let touched = if stored.is_none() {
                        tx.execute(INSERT, &[&name, &data, &encoding]).await?
                    } else {
                        tx.execute(UPDATE, &[&name, &version, &data, &encoding]).await?
                    };
                    match touched {
                        1 => Ok(version + 1),
                        _ => Err(Abort::Condition(differs(version, None))),
                    }
                })
            })
            .await;
        match saved {
            // Who found nothing to lock met somebody who had stored the first.
            Err(error) if error.is_duplicate() => Err(differs(version, Some(1))),
            saved => saved,
        }
    }
}

const fn differs(expected: i64, actual: Option<i64>) -> Error {
    Error::ConditionFailed { what: "the metadata of the cluster", expected: Some(expected), actual }
}
