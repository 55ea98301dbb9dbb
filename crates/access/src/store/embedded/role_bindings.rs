use std::collections::BTreeMap;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use redb::{Error, ReadableTable, TableDefinition, WriteTransaction};

use super::{EmbeddedStore, namespace, page, roles, users};
use crate::store::administration::SystemRole;
use crate::store::{Result, RoleBindingAdded, RoleBindingStore, Withdrawn};
use crate::{Permission, PermissionSet, RoleBinding};

/// Namespace, user, role, beginning.
type Record<'a> = (&'a str, &'a str, &'a str, i64);
/// User, namespace, role.
type Bound<'a> = (&'a str, &'a str, &'a str);

pub(super) const ROLE_BINDINGS: TableDefinition<'_, &str, Record<'static>> =
    TableDefinition::new("access.role_bindings");
/// By what they bind.
pub(super) const ROLE_BINDING_IDS: TableDefinition<'_, Bound<'static>, &str> =
    TableDefinition::new("access.role_binding_ids");
/// What is done once in the life of a store.
pub(super) const MARKS: TableDefinition<'_, &str, i64> = TableDefinition::new("access.marks");

fn decode(id: &str, (space, user_id, role_id, created_at): Record<'_>) -> Result<RoleBinding, Error> {
    Ok(RoleBinding {
        id: id.to_owned(),
        namespace: namespace(space)?,
        user_id: user_id.to_owned(),
        role_id: role_id.to_owned(),
        created_at: Timestamp::from_micros(created_at),
    })
}

fn add(write: &WriteTransaction, binding: &RoleBinding) -> Result<RoleBindingAdded, Error> {
    let (user_id, role_id) = (binding.user_id.as_str(), binding.role_id.as_str());
    if write.open_table(roles::ROLES)?.get(role_id)?.is_none() {
        return Ok(RoleBindingAdded::RoleMissing);
    }
    if write.open_table(users::USERS)?.get(user_id)?.is_none() {
        return Ok(RoleBindingAdded::UserMissing);
    }
    let (mut bindings, mut ids) = (write.open_table(ROLE_BINDINGS)?, write.open_table(ROLE_BINDING_IDS)?);
    let bound = (user_id, binding.namespace.as_str(), role_id);
    if bindings.get(binding.id.as_str())?.is_some() || ids.get(bound)?.is_some() {
        return Ok(RoleBindingAdded::Exists);
    }
    ids.insert(bound, binding.id.as_str())?;
    let record = (binding.namespace.as_str(), user_id, role_id, binding.created_at.as_micros());
    bindings.insert(binding.id.as_str(), record)?;
    Ok(RoleBindingAdded::Added)
}

/// Removes a binding within a transaction; false if there is none.
fn remove(write: &WriteTransaction, bound: Bound<'_>) -> Result<bool, Error> {
    let mut ids = write.open_table(ROLE_BINDING_IDS)?;
    let Some(id) = ids.remove(bound)?.map(|found| found.value().to_owned()) else { return Ok(false) };
    write.open_table(ROLE_BINDINGS)?.remove(id.as_str())?;
    Ok(true)
}

pub(super) fn delete_of_user(write: &WriteTransaction, user_id: &str) -> Result<(), Error> {
    let of_user =
        |id: &str, record: Record<'_>| (record.1 == user_id).then(|| decode(id, record)).transpose();
    let bindings = page(&write.open_table(ROLE_BINDINGS)?, "", usize::MAX, of_user)?;
    for binding in bindings {
        remove(write, (&binding.user_id, binding.namespace.as_str(), &binding.role_id))?;
    }
    Ok(())
}

pub(super) fn has_role(write: &WriteTransaction, role_id: &str) -> Result<bool, Error> {
    let of_role = |_: &str, record: Record<'_>| Ok((record.2 == role_id).then_some(()));
    Ok(!page(&write.open_table(ROLE_BINDINGS)?, "", 1, of_role)?.is_empty())
}

/// The roles that users have in `_system`.
pub(super) fn of_system(write: &WriteTransaction) -> Result<Vec<SystemRole>, Error> {
    let (system, roles) = (Namespace::default(), write.open_table(roles::ROLES)?);
    page(&write.open_table(ROLE_BINDINGS)?, "", usize::MAX, |id, (space, user_id, role_id, _)| {
        if space != system.as_str() {
            return Ok(None);
        }
        let role = roles.get(role_id)?;
        Ok(role.map(|role| SystemRole {
            binding_id: id.to_owned(),
            user_id: user_id.to_owned(),
            permissions: roles::permissions(role.value().2).iter().collect(),
        }))
    })
}

#[async_trait]
impl RoleBindingStore for EmbeddedStore {
    async fn add(&self, binding: &RoleBinding) -> Result<RoleBindingAdded> {
        let binding = binding.clone();
        self.write("add_role_binding", move |write| add(write, &binding)).await
    }

    async fn add_once(&self, mark: &str, binding: &RoleBinding) -> Result<Option<RoleBindingAdded>> {
        let (mark, binding) = (mark.to_owned(), binding.clone());
        self.write("add_role_binding", move |write| {
            let mut marks = write.open_table(MARKS)?;
            if marks.get(mark.as_str())?.is_some() {
                return Ok(None);
            }
            let added = add(write, &binding)?;
            if matches!(added, RoleBindingAdded::Added | RoleBindingAdded::Exists) {
                marks.insert(mark.as_str(), binding.created_at.as_micros())?;
            }
            Ok(Some(added))
        })
        .await
    }

    async fn list(
        &self,
        namespace: &Namespace,
        user_id: Option<&str>,
        pivot: &str,
        limit: usize,
    ) -> Result<Vec<RoleBinding>> {
        let (namespace, user_id, pivot) = (namespace.clone(), user_id.map(str::to_owned), pivot.to_owned());
        self.read("list_role_bindings", move |read| {
            page(&read.open_table(ROLE_BINDINGS)?, &pivot, limit, |id, record| {
                let wanted = record.0 == namespace.as_str()
                    && user_id.as_deref().is_none_or(|user_id| record.1 == user_id);
                wanted.then(|| decode(id, record)).transpose()
            })
        })
        .await
    }

    async fn delete(
        &self,
        namespace: &Namespace,
        user_id: &str,
        role_id: &str,
        now: Timestamp,
    ) -> Result<Withdrawn> {
        let (namespace, user_id, role_id) = (namespace.clone(), user_id.to_owned(), role_id.to_owned());
        self.withdraw("delete_role_binding", now, move |write| {
            remove(write, (&user_id, namespace.as_str(), &role_id))
        })
        .await
    }

    async fn permissions_of(
        &self,
        user_id: &str,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<PermissionSet> {
        let (user_id, namespace) = (user_id.to_owned(), namespace.clone());
        self.read("permissions_of", move |read| {
            let ids = read.open_table(ROLE_BINDING_IDS)?;
            let mut bound = Vec::new();
            for entry in ids.range((user_id.as_str(), namespace.as_str(), "")..)? {
                let (key, id) = entry?;
                let (user, space, role_id) = key.value();
                if (user, space) != (user_id.as_str(), namespace.as_str()) {
                    break;
                }
                bound.push((id.value().to_owned(), role_id.to_owned()));
            }
            // By the ids of the bindings: the same ones count on every store.
            bound.sort_unstable();
            let roles = read.open_table(roles::ROLES)?;
            let mut permissions: Vec<Permission> = Vec::new();
            for (_, role_id) in bound.iter().take(limit) {
                if let Some(role) = roles.get(role_id.as_str())? {
                    permissions.extend(roles::permissions(role.value().2));
                }
            }
            Ok(permissions.iter().collect())
        })
        .await
    }

    async fn is_bound(&self, user_id: &str) -> Result<bool> {
        let user_id = user_id.to_owned();
        self.read("is_bound", move |read| {
            let ids = read.open_table(ROLE_BINDING_IDS)?;
            let first = ids.range((user_id.as_str(), "", "")..)?.next().transpose()?;
            Ok(first.is_some_and(|(key, _)| key.value().0 == user_id))
        })
        .await
    }

    async fn rights_of(&self, user_id: &str) -> Result<BTreeMap<Namespace, PermissionSet>> {
        let user_id = user_id.to_owned();
        self.read("rights_of", move |read| {
            let (ids, roles) = (read.open_table(ROLE_BINDING_IDS)?, read.open_table(roles::ROLES)?);
            let mut rights: BTreeMap<Namespace, PermissionSet> = BTreeMap::new();
            for entry in ids.range((user_id.as_str(), "", "")..)? {
                let (key, _) = entry?;
                let (user, space, role_id) = key.value();
                if user != user_id {
                    break;
                }
                let Some(role) = roles.get(role_id)? else { continue };
                let permissions = roles::permissions(role.value().2);
                if !permissions.is_empty() {
                    let held = rights.entry(namespace(space)?).or_default();
                    *held = held.union(permissions.iter().collect());
                }
            }
            Ok(rights)
        })
        .await
    }
}
