use std::collections::BTreeMap;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

use super::{MemoryStore, Tables, page};
use crate::store::{Result, RoleBindingAdded, RoleBindingStore, Withdrawn};
use crate::{PermissionSet, RoleBinding};

#[async_trait]
impl RoleBindingStore for MemoryStore {
    async fn add(&self, binding: &RoleBinding) -> Result<RoleBindingAdded> {
        Ok(add(&mut self.tables.write(), binding))
    }

    async fn add_once(&self, mark: &str, binding: &RoleBinding) -> Result<Option<RoleBindingAdded>> {
        let mut tables = self.tables.write();
        if tables.marks.contains(mark) {
            return Ok(None);
        }
        let added = add(&mut tables, binding);
        if matches!(added, RoleBindingAdded::Added | RoleBindingAdded::Exists) {
            tables.marks.insert(mark.to_owned());
        }
        Ok(Some(added))
    }

    async fn list(
        &self,
        namespace: &Namespace,
        user_id: Option<&str>,
        pivot: &str,
        limit: usize,
    ) -> Result<Vec<RoleBinding>> {
        let wanted = |binding: &RoleBinding| {
            binding.namespace == *namespace && user_id.is_none_or(|user_id| binding.user_id == user_id)
        };
        Ok(page(&self.tables.read().role_bindings, pivot, limit, wanted))
    }

    async fn delete(
        &self,
        namespace: &Namespace,
        user_id: &str,
        role_id: &str,
        now: Timestamp,
    ) -> Result<Withdrawn> {
        Ok(self.withdraw(now, |tables| {
            let before = tables.role_bindings.len();
            tables.role_bindings.retain(|_, binding| {
                binding.namespace != *namespace || binding.user_id != user_id || binding.role_id != role_id
            });
            tables.role_bindings.len() < before
        }))
    }

    async fn permissions_of(
        &self,
        user_id: &str,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<PermissionSet> {
        let tables = self.tables.read();
        let bound = |binding: &RoleBinding| binding.user_id == user_id && binding.namespace == *namespace;
        let bindings = page(&tables.role_bindings, "", limit, bound);
        let roles = bindings.iter().filter_map(|binding| tables.roles.get(&binding.role_id));
        Ok(roles.flat_map(|role| &role.permissions).collect())
    }

    async fn is_bound(&self, user_id: &str) -> Result<bool> {
        Ok(self.tables.read().role_bindings.values().any(|binding| binding.user_id == user_id))
    }

    async fn rights_of(&self, user_id: &str) -> Result<BTreeMap<Namespace, PermissionSet>> {
        let tables = self.tables.read();
        let bound = tables.role_bindings.values().filter(|binding| binding.user_id == user_id);
        let mut rights: BTreeMap<Namespace, PermissionSet> = BTreeMap::new();
        for binding in bound {
            let role = tables.roles.get(&binding.role_id).filter(|role| !role.permissions.is_empty());
            if let Some(role) = role {
                let held = rights.entry(binding.namespace.clone()).or_default();
                *held = held.union(role.permissions.iter().collect());
            }
        }
        Ok(rights)
    }
}

fn add(tables: &mut Tables, binding: &RoleBinding) -> RoleBindingAdded {
    if !tables.roles.contains_key(&binding.role_id) {
        return RoleBindingAdded::RoleMissing;
    }
    if !tables.users.contains_key(&binding.user_id) {
        return RoleBindingAdded::UserMissing;
    }
    let is_same = |other: &RoleBinding| {
        other.id == binding.id
            || (other.namespace == binding.namespace
                && other.user_id == binding.user_id
                && other.role_id == binding.role_id)
    };
    if tables.role_bindings.values().any(is_same) {
        return RoleBindingAdded::Exists;
    }
    tables.role_bindings.insert(binding.id.clone(), binding.clone());
    RoleBindingAdded::Added
}
