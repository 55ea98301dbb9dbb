//! Roles: create, update, list, delete. Each is judged in the namespace that it names.

use leasehold_queue::Namespace;

use super::fields::{no_colon, no_nul, not_empty, not_longer};
use super::{Access, audit, or_default};
use crate::store::{Change, Deleted, RoleAdded, Withdrawn};
use crate::{Error, Page, Permission, PermissionSet, Principal, Refusal, Result, Role, StandardRole};

const NAME_BYTES_MAX: usize = 128;

/// A role as it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRequest {
    /// Where it can be bound.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What it allows, in text form.
    pub permissions: Vec<String>,
}

impl RoleRequest {
    /// The permissions, each once, in the order given.
    fn permissions(&self) -> Result<Vec<Permission>, Refusal> {
        let mut seen = PermissionSet::EMPTY;
        let mut permissions = Vec::new();
        for text in &self.permissions {
            let permission = text.parse()?;
            if !seen.contains(permission) {
                seen = seen.union([permission].iter().collect());
                permissions.push(permission);
            }
        }
        Ok(permissions)
    }
}

impl Access {
    /// Makes a role of permissions that its creator has; its id. Dropping the call leaves it made or not.
    ///
    /// # Errors
    /// A field that is missing, malformed or too long, an unknown permission, a standard or taken name,
    /// [`Error::Denied`], [`Error::NamespaceNotFound`].
    pub async fn create_role(&self, actor: &Principal, request: &RoleRequest) -> Result<String> {
        self.namespaces()?;
        let store = self.roles()?;
        not_empty("namespace", &request.namespace)?;
        not_empty("name", &request.name)?;
        not_longer("name", &request.name, NAME_BYTES_MAX)?;
        no_colon("name", &request.name)?;
        no_nul("name", &request.name)?;
        let permissions = request.permissions()?;
        // Before the namespace is looked up: who may not must not learn whether it exists.
        let action = Permission::RoleCreate;
        self.permit(actor, &request.namespace, action, &request.name).await?;
        self.permit_role(actor, action, &request.namespace, &permissions, &request.name).await?;
        not_standard(&request.name)?;
        self.bootstrap().await?;
        let no_namespace = || Error::NamespaceNotFound { name: request.namespace.clone() };
        let namespace = existing(&request.namespace).ok_or_else(no_namespace)?;
        let (id, name, created_at) = (self.id(), request.name.clone(), self.0.clock.now());
        let role = Role { id, namespace, name, permissions, created_at };
        match store.add(&role).await? {
            RoleAdded::Added => audit::done(actor, Permission::RoleCreate, &role.id),
            RoleAdded::NamespaceMissing => return Err(no_namespace()),
            RoleAdded::Exists => {
                let (namespace, name) = (request.namespace.clone(), role.name);
                return Err(Refusal::RoleExists { namespace, name }.into());
            }
        }
        Ok(role.id)
    }

    /// Replaces the permissions of a role by others that the caller has; they count at once. Goes on when it is dropped.
    ///
    /// # Errors
    /// A missing field, an unknown permission, a standard role, [`Error::Denied`], [`Error::RoleNotFound`],
    /// [`Refusal::LastAdministrator`].
    pub async fn update_role(&self, actor: &Principal, request: &RoleRequest) -> Result<()> {
        let store = self.roles()?.clone();
        not_empty("namespace", &request.namespace)?;
        not_empty("name", &request.name)?;
        let permissions = request.permissions()?;
        let action = Permission::RoleUpdate;
        self.permit(actor, &request.namespace, action, &request.name).await?;
        self.permit_role(actor, action, &request.namespace, &permissions, &request.name).await?;
        let role = self.role(&request.namespace, &request.name).await?;
        not_standard(&request.name)?;
        let (id, now) = (role.id.clone(), self.0.clock.now());
        let updating = async move { store.update(&id, &permissions, now).await };
        match self.write("update_role", Change::Permissions, updating).await? {
            Withdrawn::Done => audit::done(actor, action, &role.id),
            Withdrawn::Missing => return Err(not_found(&request.namespace, &request.name)),
            Withdrawn::LastAdministrator => return Err(Refusal::LastAdministrator.into()),
        }
        Ok(())
    }

    /// Roles of a namespace, by default `_system`, in the order of their ids.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub async fn list_roles(&self, actor: &Principal, namespace: &str, page: &Page) -> Result<Vec<Role>> {
        let store = self.roles()?;
        let namespace = or_default(namespace);
        self.authorise(actor, namespace, Permission::RoleList).await?;
        let (Some(limit), Some(namespace)) = (page.limit(), existing(namespace)) else {
            return Ok(Vec::new());
        };
        Ok(store.list(&namespace, page.pivot(), limit).await?)
    }

    /// Deletes a role that nobody has. Dropping the call leaves it deleted or not.
    ///
    /// # Errors
    /// A standard role or one with bindings, [`Error::Denied`], [`Error::RoleNotFound`].
    pub async fn delete_role(&self, actor: &Principal, namespace: &str, name: &str) -> Result<()> {
        let store = self.roles()?;
        self.role_bindings()?;
        let namespace = or_default(namespace);
        self.permit(actor, namespace, Permission::RoleDelete, name).await?;
        let role = self.role(namespace, name).await?;
        not_standard(name)?;
        match store.delete(&role.id).await? {
            Deleted::Deleted => audit::done(actor, Permission::RoleDelete, &role.id),
            Deleted::Missing => return Err(not_found(namespace, name)),
            Deleted::InUse => return Err(Refusal::RoleHasBindings { name: name.to_owned() }.into()),
        }
        Ok(())
    }

    /// The role of this name.
    pub(super) async fn role(&self, namespace: &str, name: &str) -> Result<Role> {
        let missing = || not_found(namespace, name);
        let namespace = existing(namespace).ok_or_else(missing)?;
        self.roles()?.get(&namespace, name).await?.ok_or_else(missing)
    }
}

/// The name, unless no namespace can have it.
pub(super) fn existing(namespace: &str) -> Option<Namespace> {
    namespace.parse().ok()
}

fn not_found(namespace: &str, name: &str) -> Error {
    Error::RoleNotFound { namespace: namespace.to_owned(), name: name.to_owned() }
}

fn not_standard(name: &str) -> Result<(), Refusal> {
    match StandardRole::named(name) {
        Some(_) => Err(Refusal::RoleStandard { name: name.to_owned() }),
        None => Ok(()),
    }
}
