//! Nexus endpoints, and the one version that counts the changes of their table. Every change is made at the version of the
//! table and of the endpoint that its maker knows, and raises both.

mod delete;
mod get;
mod list;
mod save;
mod table_version;

use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::{Blob, Database, EndpointId, Result};

pub use list::EndpointPage;

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Which one.
    pub id: EndpointId,
    /// What was stored.
    pub blob: Blob,
    /// How often it was; 0 before it ever was.
    pub version: i64,
}

impl Endpoint {
    fn of(row: &Row) -> Result<Self> {
        Ok(Self { id: column(row, "id")?, blob: Blob::of(row)?, version: column(row, "version")? })
    }
}

/// The endpoints of a database.
#[derive(Clone, Debug)]
pub struct Endpoints {
    database: Database,
}

impl Endpoints {
    /// The endpoints of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}
