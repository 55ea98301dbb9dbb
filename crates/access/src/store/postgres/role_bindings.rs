use std::collections::BTreeMap;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::Type;
use leasehold_txn::{Operation, Values};

use super::errors::Unwritten;
use super::time::{from_postgres, to_postgres};
use super::{PostgresStore, column, is_nowhere, limit, pivot};
use super::{namespaces, roles};
use crate::store::{Result, RoleBindingAdded, RoleBindingStore, Withdrawn};
use crate::{Permission, PermissionSet, RoleBinding};

const ADD: Operation = Operation::new("access.role_binding.add");
const LIST: Operation = Operation::new("access.role_binding.list");
const DELETE: Operation = Operation::new("access.role_binding.delete");
const OF_USER: Operation = Operation::new("access.role_binding.of_user");
const RIGHTS: Operation = Operation::new("access.role_binding.rights");
const PERMISSIONS: Operation = Operation::new("access.role_binding.permissions");

fn decode(row: &Row) -> Result<RoleBinding> {
    Ok(RoleBinding {
        id: column(row, "id")?,
        namespace: namespaces::name(row, "namespace")?,
        user_id: column(row, "user_id")?,
        role_id: column(row, "role_id")?,
        created_at: from_postgres(column(row, "created_at")?),
    })
}

/// What a constraint says of a binding that it refused.
fn refused(error: Unwritten) -> Result<RoleBindingAdded> {
    match error.violated() {
        Some("leasehold_role_bindings_pkey" | "leasehold_role_bindings_bound_key") => {
            Ok(RoleBindingAdded::Exists)
        }
        Some("leasehold_role_bindings_role_fkey") => Ok(RoleBindingAdded::RoleMissing),
        Some("leasehold_role_bindings_user_fkey") => Ok(RoleBindingAdded::UserMissing),
        _ => Err(error.into_error(ADD)),
    }
}

#[async_trait]
impl RoleBindingStore for PostgresStore {
    async fn add(&self, binding: &RoleBinding) -> Result<RoleBindingAdded> {
        let added = self
            .write(
                ADD,
                &self.statements.role_binding_add,
                &[
                    (&binding.id, Type::TEXT),
                    (&binding.namespace.as_str(), Type::TEXT),
                    (&binding.user_id, Type::TEXT),
                    (&binding.role_id, Type::TEXT),
                    (&to_postgres(binding.created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        added.map(|_| RoleBindingAdded::Added).or_else(refused)
    }

    async fn add_once(&self, mark: &str, binding: &RoleBinding) -> Result<Option<RoleBindingAdded>> {
        let added = self
            .write(
                ADD,
                &self.statements.role_binding_add_once,
                &[
                    (&binding.id, Type::TEXT),
                    (&binding.namespace.as_str(), Type::TEXT),
                    (&binding.user_id, Type::TEXT),
                    (&binding.role_id, Type::TEXT),
                    (&to_postgres(binding.created_at), Type::TIMESTAMPTZ),
                    (&mark, Type::TEXT),
                ],
            )
            .await;
        let rows = match added {
            Ok(rows) => rows,
            Err(error) => return refused(error).map(Some),
        };
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(match (column(row, "marked")?, column(row, "added")?) {
            (false, _) => None,
            (true, true) => Some(RoleBindingAdded::Added),
            (true, false) => Some(RoleBindingAdded::Exists),
        })
    }

    async fn list(
        &self,
        namespace: &Namespace,
        user_id: Option<&str>,
        from: &str,
        at_most: usize,
    ) -> Result<Vec<RoleBinding>> {
        if is_nowhere(namespace.as_str()) || user_id.is_some_and(is_nowhere) {
            return Ok(Vec::new());
        }
        let (pivot, limit) = (pivot(from), limit(at_most));
        let rows = self
            .read(
                LIST,
                include_str!("sql/role_binding_list.sql"),
                &[
                    (&pivot, Type::TEXT),
                    (&limit, Type::INT8),
                    (&namespace.as_str(), Type::TEXT),
                    (&user_id, Type::TEXT),
                ],
            )
            .await;
        rows?.iter().map(decode).collect()
    }

    async fn delete(
        &self,
        namespace: &Namespace,
        user_id: &str,
        role_id: &str,
        now: Timestamp,
    ) -> Result<Withdrawn> {
        if is_nowhere(user_id) {
            return Ok(Withdrawn::Missing);
        }
        let namespace = namespace.as_str();
        let values: Values<'_> = &[(&namespace, Type::TEXT), (&user_id, Type::TEXT), (&role_id, Type::TEXT)];
        let (withdrawn, _) = self.withdraw(DELETE, &self.statements.role_binding_delete, values, now).await?;
        Ok(withdrawn)
    }

    async fn permissions_of(
        &self,
        user_id: &str,
        namespace: &Namespace,
        at_most: usize,
    ) -> Result<PermissionSet> {
        if is_nowhere(user_id) || is_nowhere(namespace.as_str()) {
            return Ok(PermissionSet::EMPTY);
        }
        let limit = limit(at_most);
        let rows = self
            .read(
                PERMISSIONS,
                self.statements.role_binding_permissions,
                &[(&user_id, Type::TEXT), (&namespace.as_str(), Type::TEXT), (&limit, Type::INT8)],
            )
            .await;
        let rows = rows?;
        let texts = rows.iter().map(|row| column::<&str>(row, "permission")).collect::<Result<Vec<_>>>()?;
        let known: Vec<Permission> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        Ok(known.iter().collect())
    }

    async fn is_bound(&self, user_id: &str) -> Result<bool> {
        if is_nowhere(user_id) {
            return Ok(false);
        }
        let sql = include_str!("sql/role_binding_of_user.sql");
        Ok(!self.read(OF_USER, sql, &[(&user_id, Type::TEXT)]).await?.is_empty())
    }

    async fn rights_of(&self, user_id: &str) -> Result<BTreeMap<Namespace, PermissionSet>> {
        let mut rights: BTreeMap<Namespace, PermissionSet> = BTreeMap::new();
        if is_nowhere(user_id) {
            return Ok(rights);
        }
        let sql = self.statements.role_binding_rights;
        for row in self.read(RIGHTS, sql, &[(&user_id, Type::TEXT)]).await? {
            let permissions = roles::permissions(&row)?;
            if !permissions.is_empty() {
                let held = rights.entry(namespaces::name(&row, "namespace")?).or_default();
                *held = held.union(permissions.iter().collect());
            }
        }
        Ok(rights)
    }
}
