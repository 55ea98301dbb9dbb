//! Changes a namespace, its name included.

use leasehold_txn::{Abort, Operation};

use super::notification::{self, RAISE_VERSION, differs};
use super::{NamespaceRecord, Namespaces};
use crate::{Error, Result};

const UPDATE_NAMESPACE: Operation = Operation::new("state.update_namespace");
const UPDATE: &str = include_str!("sql/update.sql");
const UPDATE_AND_RENAME: &str = include_str!("sql/update_and_rename.sql");
const SELECT_NAME: &str = include_str!("sql/select_name.sql");

impl Namespaces {
    /// Stores the record over the one of the same id, under the name it now has, if the version of all namespaces is still
    /// `notification_version`; then it is one higher.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the version differs or another namespace has the name, [`Error::NotFound`] when
    /// there is no namespace of that id.
    pub async fn update(&self, record: &NamespaceRecord, notification_version: i64) -> Result<()> {
        let updated = self
            .database
            .run_patiently(UPDATE_NAMESPACE, |tx| {
                Box::pin(async move {
                    // If the name is read before the version is locked, a change in between raises the version.
                    let by_id: leasehold_txn::Parameters<'_> = &[&record.id];
                    let (version, stored) =
                        tokio::join!(notification::lock(tx), tx.query_opt(SELECT_NAME, by_id));
                    let (version, stored) = (version?, stored?);
                    if version != notification_version {
                        return Err(Abort::Condition(differs(notification_version, Some(version))));
                    }
                    let stored = stored.ok_or(Abort::Condition(MISSING))?;
                    // A change that names a column of a key is a change of the key: the name only when it changes.
                    let is_renamed = stored.try_get::<_, &str>("name")? != record.name;
                    let sql = if is_renamed { UPDATE_AND_RENAME } else { UPDATE };
                    let (data, encoding) = (record.blob.data(), record.blob.encoding());
                    let all: leasehold_txn::Parameters<'_> =
                        &[&record.id, &version, &data, &encoding, &record.is_global, &record.name];
                    let values = if is_renamed { all } else { &all[..5] };
                    let touched = tx.execute_all(&[(sql, values), (RAISE_VERSION, &[&version])]).await?;
                    if touched[0] != 1 {
                        return Err(Abort::Condition(MISSING));
                    }
                    notification::expect_raised(touched[1], version)
                })
            })
            .await;
        match updated {
            Err(error) if error.is_duplicate() => {
                let what = "the name of the namespace";
                Err(Error::ConditionFailed { what, expected: None, actual: None })
            }
            updated => updated,
        }
    }
}

const MISSING: Error = Error::NotFound { what: "namespace" };
