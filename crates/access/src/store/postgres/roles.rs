use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Operation, Values};

use super::namespaces;
use super::time::{from_postgres, to_postgres};
use super::{PostgresStore, column, is_nowhere, limit, pivot};
use crate::store::{Deleted, Result, RoleAdded, RoleStore, Withdrawn};
use crate::{Permission, Role};

const GET: Operation = Operation::new("access.role.get");
const ADD: Operation = Operation::new("access.role.add");
const UPDATE: Operation = Operation::new("access.role.update");
const LIST: Operation = Operation::new("access.role.list");
const DELETE: Operation = Operation::new("access.role.delete");

fn decode(row: &Row) -> Result<Role> {
    Ok(Role {
        id: column(row, "id")?,
        namespace: namespaces::name(row, "namespace")?,
        name: column(row, "name")?,
        permissions: permissions(row)?,
        created_at: from_postgres(column(row, "created_at")?),
    })
}

/// A permission of a later release allows nothing here.
pub(super) fn permissions(row: &Row) -> Result<Vec<Permission>> {
    let texts: Vec<&str> = column(row, "permissions")?;
    Ok(texts.iter().filter_map(|permission| permission.parse().ok()).collect())
}

fn texts(permissions: &[Permission]) -> Vec<&'static str> {
    permissions.iter().map(|permission| permission.as_str()).collect()
}

#[async_trait]
impl RoleStore for PostgresStore {
    async fn get(&self, namespace: &Namespace, name: &str) -> Result<Option<Role>> {
        if is_nowhere(namespace.as_str()) || is_nowhere(name) {
            return Ok(None);
        }
        let sql = self.statements.role_get;
        let rows = self.read(GET, sql, &[(&namespace.as_str(), Type::TEXT), (&name, Type::TEXT)]).await?;
        rows.first().map(decode).transpose()
    }

    async fn add(&self, role: &Role) -> Result<RoleAdded> {
        let added = self
            .write(
                ADD,
                &self.statements.role_add,
                &[
                    (&role.id, Type::TEXT),
                    (&role.namespace.as_str(), Type::TEXT),
                    (&role.name, Type::TEXT),
                    (&texts(&role.permissions), Type::TEXT_ARRAY),
                    (&to_postgres(role.created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        match added {
            Ok(_) => Ok(RoleAdded::Added),
            Err(error) => match error.violated() {
                Some("leasehold_roles_pkey" | "leasehold_roles_name_key") => Ok(RoleAdded::Exists),
                Some("leasehold_roles_namespace_fkey") => Ok(RoleAdded::NamespaceMissing),
                _ => Err(error.into_error(ADD)),
            },
        }
    }

    async fn update(&self, id: &str, permissions: &[Permission], now: Timestamp) -> Result<Withdrawn> {
        let permissions = texts(permissions);
        let values: Values<'_> = &[(&id, Type::TEXT), (&permissions, Type::TEXT_ARRAY)];
        let (withdrawn, _) = self.withdraw(UPDATE, &self.statements.role_update, values, now).await?;
        Ok(withdrawn)
    }

    async fn list(&self, namespace: &Namespace, from: &str, at_most: usize) -> Result<Vec<Role>> {
        if is_nowhere(namespace.as_str()) {
            return Ok(Vec::new());
        }
        let (pivot, limit) = (pivot(from), limit(at_most));
        let rows = self
            .read(
                LIST,
                self.statements.role_list,
                &[(&pivot, Type::TEXT), (&limit, Type::INT8), (&namespace.as_str(), Type::TEXT)],
            )
            .await;
        rows?.iter().map(decode).collect()
    }

    async fn delete(&self, id: &str) -> Result<Deleted> {
        match self.write(DELETE, &self.statements.role_delete, &[(&id, Type::TEXT)]).await {
            Ok(rows) if rows.is_empty() => Ok(Deleted::Missing),
            Ok(_) => Ok(Deleted::Deleted),
            Err(error) if error.violated() == Some("leasehold_role_bindings_role_fkey") => Ok(Deleted::InUse),
            Err(error) => Err(error.into_error(DELETE)),
        }
    }
}
