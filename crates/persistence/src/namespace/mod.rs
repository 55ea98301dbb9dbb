//! Namespaces, and the one version that counts their changes: every change of any of them is made at the version that its
//! maker knows, and raises it.

mod create;
mod delete;
mod get;
mod list;
mod notification;
mod update;

use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::{Blob, Database, Error, NamespaceId, Result, bounds};

/// What a caller stores of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRecord {
    id: NamespaceId,
    name: String,
    blob: Blob,
    is_global: bool,
}

impl NamespaceRecord {
    /// A record.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the name is empty, longer than [`NAME_LEN_MAX`](crate::NAME_LEN_MAX) or has a zero
    /// byte in it.
    pub fn new(id: NamespaceId, name: impl Into<String>, blob: Blob, is_global: bool) -> Result<Self> {
        let name = name.into();
        bounds::name("name", &name)?;
        Ok(Self { id, name, blob, is_global })
    }

    /// Which namespace it is.
    #[must_use]
    pub const fn id(&self) -> NamespaceId {
        self.id
    }

    /// What it is called. No other has the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its owner keeps in it.
    #[must_use]
    pub const fn blob(&self) -> &Blob {
        &self.blob
    }

    /// Whether it is replicated between clusters.
    #[must_use]
    pub const fn is_global(&self) -> bool {
        self.is_global
    }
}

/// A namespace as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// What was stored.
    pub record: NamespaceRecord,
    /// The version of all namespaces at which it was.
    pub notification_version: i64,
}

impl Namespace {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self {
            record: NamespaceRecord {
                id: column(row, "id")?,
                name: column(row, "name")?,
                blob: Blob::of(row)?,
                is_global: column(row, "is_global")?,
            },
            notification_version: column(row, "notification_version")?,
        })
    }
}

/// How a namespace is named: by its id, or by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceBy<'a> {
    /// The id.
    Id(NamespaceId),
    /// The name.
    Name(&'a str),
}

impl<'a> NamespaceBy<'a> {
    /// From a request that has room for both.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when it names both, or neither.
    pub fn one_of(id: Option<NamespaceId>, name: Option<&'a str>) -> Result<Self> {
        match (id, name) {
            (Some(id), None) => Ok(Self::Id(id)),
            (None, Some(name)) => Ok(Self::Name(name)),
            (Some(_), Some(_)) => Err(Error::invalid("namespace", "must not be named twice".to_owned())),
            (None, None) => Err(Error::invalid("namespace", "must be named by id or by name".to_owned())),
        }
    }
}

/// The namespaces of a database.
#[derive(Clone, Debug)]
pub struct Namespaces {
    database: Database,
}

impl Namespaces {
    /// The namespaces of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: NamespaceId = NamespaceId::from_bytes([7; 16]);

    #[test]
    fn a_namespace_is_named_once() {
        assert_eq!(NamespaceBy::one_of(Some(ID), None).expect("an id"), NamespaceBy::Id(ID));
        assert_eq!(NamespaceBy::one_of(None, Some("a")).expect("a name"), NamespaceBy::Name("a"));
        for (id, name) in [(None, None), (Some(ID), Some("a"))] {
            let error = NamespaceBy::one_of(id, name).expect_err("both or neither");
            assert_eq!(error.code(), "state.invalid_request");
        }
    }

    #[test]
    fn record_has_a_name_that_fits() {
        assert!(NamespaceRecord::new(ID, "orders", Blob::proto3(vec![]), false).is_ok());
        assert!(NamespaceRecord::new(ID, "", Blob::proto3(vec![]), false).is_err());
    }
}
