//! Deletes a namespace.

use leasehold_txn::Operation;

use super::{NamespaceBy, Namespaces};
use crate::Result;
use crate::sql::Sql;

const DELETE: Operation = Operation::new("state.delete_namespace");
const DELETE_BY_ID: Sql = Sql::same(include_str!("sql/delete_by_id.sql"));
const DELETE_BY_NAME: Sql = Sql::same(include_str!("sql/delete_by_name.sql"));

impl Namespaces {
    /// Deletes the namespace if there is one. The version of the namespaces stays as it is, as Temporal has it.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete(&self, by: NamespaceBy<'_>) -> Result<()> {
        match by {
            NamespaceBy::Id(id) => self.database.write(DELETE, DELETE_BY_ID, &[&id]).await?,
            NamespaceBy::Name(name) => self.database.write(DELETE, DELETE_BY_NAME, &[&name]).await?,
        };
        Ok(())
    }
}
