use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

use super::{MemoryStore, page};
use crate::store::{Deleted, Result, RoleAdded, RoleStore, Withdrawn};
use crate::{Permission, Role};

#[async_trait]
impl RoleStore for MemoryStore {
    async fn get(&self, namespace: &Namespace, name: &str) -> Result<Option<Role>> {
        let tables = self.tables.read();
        let found = tables.roles.values().find(|role| role.namespace == *namespace && role.name == name);
        Ok(found.cloned())
    }

    async fn add(&self, role: &Role) -> Result<RoleAdded> {
        let mut tables = self.tables.write();
        if !tables.namespaces.contains_key(role.namespace.as_str()) {
            return Ok(RoleAdded::NamespaceMissing);
        }
        let is_same = |other: &Role| {
            other.id == role.id || (other.namespace == role.namespace && other.name == role.name)
        };
        if tables.roles.values().any(is_same) {
            return Ok(RoleAdded::Exists);
        }
        tables.roles.insert(role.id.clone(), role.clone());
        Ok(RoleAdded::Added)
    }

    async fn update(&self, id: &str, permissions: &[Permission], now: Timestamp) -> Result<Withdrawn> {
        Ok(self.withdraw(now, |tables| {
            let found = tables.roles.get_mut(id);
            found.map(|role| role.permissions = permissions.to_vec()).is_some()
        }))
    }

    async fn list(&self, namespace: &Namespace, pivot: &str, limit: usize) -> Result<Vec<Role>> {
        Ok(page(&self.tables.read().roles, pivot, limit, |role| role.namespace == *namespace))
    }

    async fn delete(&self, id: &str) -> Result<Deleted> {
        let mut tables = self.tables.write();
        if tables.role_bindings.values().any(|binding| binding.role_id == id) {
            return Ok(Deleted::InUse);
        }
        Ok(if tables.roles.remove(id).is_some() { Deleted::Deleted } else { Deleted::Missing })
    }
}
