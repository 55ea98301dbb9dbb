//! Finds a namespace.

use leasehold_txn::Operation;

use super::{Namespace, NamespaceBy, Namespaces};
use crate::sql::Sql;
use crate::{Error, Result};

const GET: Operation = Operation::new("state.get_namespace");
const SELECT_BY_ID: Sql = Sql::same(include_str!("sql/select_by_id.sql"));
const SELECT_BY_NAME: Sql = Sql::same(include_str!("sql/select_by_name.sql"));

impl Namespaces {
    /// The namespace.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`] when there is none.
    pub async fn get(&self, by: NamespaceBy<'_>) -> Result<Namespace> {
        let rows = match by {
            NamespaceBy::Id(id) => self.database.read(GET, SELECT_BY_ID, &[&id]).await?,
            NamespaceBy::Name(name) => self.database.read(GET, SELECT_BY_NAME, &[&name]).await?,
        };
        Namespace::of(rows.first().ok_or(Error::NamespaceNotFound)?)
    }
}
