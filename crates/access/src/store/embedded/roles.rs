use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use redb::{Error, ReadableTable, TableDefinition};

use super::{EmbeddedStore, namespace, namespaces, page, role_bindings};
use crate::store::{Deleted, Result, RoleAdded, RoleStore, Withdrawn};
use crate::{Permission, Role};

/// Namespace, name, permissions between spaces, beginning.
type Record<'a> = (&'a str, &'a str, &'a str, i64);

pub(super) const ROLES: TableDefinition<'_, &str, Record<'static>> = TableDefinition::new("access.roles");
/// By namespace and name.
pub(super) const ROLE_IDS: TableDefinition<'_, (&str, &str), &str> = TableDefinition::new("access.role_ids");

fn decode(id: &str, (space, name, permissions, created_at): Record<'_>) -> Result<Role, Error> {
    Ok(Role {
        id: id.to_owned(),
        namespace: namespace(space)?,
        name: name.to_owned(),
        permissions: self::permissions(permissions),
        created_at: Timestamp::from_micros(created_at),
    })
}

/// A permission of a later release allows nothing here.
pub(super) fn permissions(text: &str) -> Vec<Permission> {
    text.split(' ').filter_map(|permission| permission.parse().ok()).collect()
}

fn text(permissions: &[Permission]) -> String {
    permissions.iter().map(|permission| permission.as_str()).collect::<Vec<_>>().join(" ")
}

#[async_trait]
impl RoleStore for EmbeddedStore {
    async fn get(&self, namespace: &Namespace, name: &str) -> Result<Option<Role>> {
        let (namespace, name) = (namespace.clone(), name.to_owned());
        self.read("get_role", move |read| {
            let id = read.open_table(ROLE_IDS)?.get((namespace.as_str(), name.as_str()))?;
            let Some(id) = id else { return Ok(None) };
            let found = read.open_table(ROLES)?.get(id.value())?;
            found.map(|found| decode(id.value(), found.value())).transpose()
        })
        .await
    }

    async fn add(&self, role: &Role) -> Result<RoleAdded> {
        let role = role.clone();
        self.write("add_role", move |write| {
            if write.open_table(namespaces::NAMESPACES)?.get(role.namespace.as_str())?.is_none() {
                return Ok(RoleAdded::NamespaceMissing);
            }
            let (mut roles, mut ids) = (write.open_table(ROLES)?, write.open_table(ROLE_IDS)?);
            let name = (role.namespace.as_str(), role.name.as_str());
            if roles.get(role.id.as_str())?.is_some() || ids.get(name)?.is_some() {
                return Ok(RoleAdded::Exists);
            }
            ids.insert(name, role.id.as_str())?;
            let permissions = text(&role.permissions);
            roles.insert(
                role.id.as_str(),
                (name.0, name.1, permissions.as_str(), role.created_at.as_micros()),
            )?;
            Ok(RoleAdded::Added)
        })
        .await
    }

    async fn update(&self, id: &str, permissions: &[Permission], now: Timestamp) -> Result<Withdrawn> {
        let (id, permissions) = (id.to_owned(), permissions.to_vec());
        self.withdraw("update_role", now, move |write| {
            let mut roles = write.open_table(ROLES)?;
            let found = roles.get(id.as_str())?.map(|found| decode(&id, found.value())).transpose()?;
            let Some(role) = found else { return Ok(false) };
            let (namespace, name) = (role.namespace.as_str(), role.name.as_str());
            let record = (namespace, name, &*text(&permissions), role.created_at.as_micros());
            roles.insert(id.as_str(), record)?;
            Ok(true)
        })
        .await
    }

    async fn list(&self, namespace: &Namespace, pivot: &str, limit: usize) -> Result<Vec<Role>> {
        let (namespace, pivot) = (namespace.clone(), pivot.to_owned());
        self.read("list_roles", move |read| {
            page(&read.open_table(ROLES)?, &pivot, limit, |id, record| {
                (record.0 == namespace.as_str()).then(|| decode(id, record)).transpose()
            })
        })
        .await
    }

    async fn delete(&self, id: &str) -> Result<Deleted> {
        let id = id.to_owned();
        self.write("delete_role", move |write| {
            if role_bindings::has_role(write, &id)? {
                return Ok(Deleted::InUse);
            }
            let mut roles = write.open_table(ROLES)?;
            let found = roles.remove(id.as_str())?.map(|found| decode(&id, found.value())).transpose()?;
            let Some(role) = found else { return Ok(Deleted::Missing) };
            write.open_table(ROLE_IDS)?.remove((role.namespace.as_str(), role.name.as_str()))?;
            Ok(Deleted::Deleted)
        })
        .await
    }
}
