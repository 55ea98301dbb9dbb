//! Makes a namespace.

use leasehold_txn::{Abort, Operation};

use super::notification::{self, RAISE_VERSION};
use super::{NamespaceRecord, Namespaces};
use crate::{Error, Result};

const CREATE: Operation = Operation::new("state.create_namespace");
const INSERT: &str = include_str!("sql/insert.sql");

impl Namespaces {
    /// Makes a namespace, at the version that is returned. Of several who make one of the same name at once, one does.
    ///
    /// # Errors
    /// [`Error::NamespaceAlreadyExists`] when the name or the id is taken.
    pub async fn create(&self, record: &NamespaceRecord) -> Result<i64> {
        let created = self
            .database
            .run_patiently(CREATE, |tx| {
                Box::pin(async move {
                    let version = notification::lock(tx).await?;
                    let (data, encoding) = (record.blob.data(), record.blob.encoding());
                    let touched = tx
                        .execute_all(&[
                            (
                                INSERT,
                                &[&record.id, &record.name, &version, &data, &encoding, &record.is_global],
                            ),
                            (RAISE_VERSION, &[&version]),
                        ])
                        .await?;
                    notification::expect_raised(touched[1], version)?;
                    Ok::<_, Abort<Error>>(version)
                })
            })
            .await;
        match created {
            Err(error) if error.is_duplicate() => Err(Error::NamespaceAlreadyExists),
            created => created,
        }
    }
}
