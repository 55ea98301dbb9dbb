//! Bindings: create, list, delete. Each is judged in the namespace that it names.

use super::fields::{no_colon, not_empty};
use super::roles::existing;
use super::{Access, audit, or_default};
use crate::store::{Change, RoleBindingAdded, Withdrawn};
use crate::{Error, Page, Permission, Principal, Refusal, Result, RoleBinding};

/// Which role is bound to whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleBindingRequest {
    /// The namespace of the role.
    pub namespace: String,
    /// The name of the role.
    pub role_name: String,
    /// The user.
    pub user_id: String,
}

impl Access {
    /// Gives a role to a user, of permissions that the caller has; it counts at once. The id of the binding. Goes on when
    /// it is dropped.
    ///
    /// # Errors
    /// A field that is missing or malformed, a binding that is there, [`Error::Denied`], [`Error::RoleNotFound`],
    /// [`Error::UserNotFound`].
    pub async fn create_role_binding(
        &self,
        actor: &Principal,
        request: &RoleBindingRequest,
    ) -> Result<String> {
        self.roles()?;
        let users = self.users()?;
        let store = self.role_bindings()?.clone();
        not_empty("namespace", &request.namespace)?;
        not_empty("role_name", &request.role_name)?;
        not_empty("user_id", &request.user_id)?;
        no_colon("user_id", &request.user_id)?;
        self.permit(actor, &request.namespace, Permission::RoleBindingCreate, &request.user_id).await?;
        let role = self.role(&request.namespace, &request.role_name).await?;
        let no_user = || Error::UserNotFound { id: request.user_id.clone() };
        users.get(&request.user_id).await?.ok_or_else(no_user)?;
        let action = Permission::RoleBindingCreate;
        self.permit_role(actor, action, &request.namespace, &role.permissions, &request.user_id).await?;
        let id = self.id();
        let binding = RoleBinding {
            id: id.clone(),
            namespace: role.namespace.clone(),
            user_id: request.user_id.clone(),
            role_id: role.id.clone(),
            created_at: self.0.clock.now(),
        };
        let adding = async move { store.add(&binding).await };
        match self.write("create_role_binding", Change::Permissions, adding).await? {
            RoleBindingAdded::Added => audit::done(actor, action, &id),
            RoleBindingAdded::UserMissing => return Err(no_user()),
            RoleBindingAdded::RoleMissing => {
                let (namespace, name) = (request.namespace.clone(), request.role_name.clone());
                return Err(Error::RoleNotFound { namespace, name });
            }
            RoleBindingAdded::Exists => {
                let (namespace, user_id) = (request.namespace.clone(), request.user_id.clone());
                return Err(Refusal::RoleBindingExists { namespace, user_id, role_id: role.id }.into());
            }
        }
        Ok(id)
    }

    /// Bindings in a namespace, by default `_system`, in the order of their ids: of one user or, if that is empty, of
    /// all.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub async fn list_role_bindings(
        &self,
        actor: &Principal,
        namespace: &str,
        user_id: &str,
        page: &Page,
    ) -> Result<Vec<RoleBinding>> {
        let store = self.role_bindings()?;
        let namespace = or_default(namespace);
        self.authorise(actor, namespace, Permission::RoleBindingList).await?;
        let (Some(limit), Some(namespace)) = (page.limit(), existing(namespace)) else {
            return Ok(Vec::new());
        };
        let user_id = Some(user_id).filter(|user_id| !user_id.is_empty());
        Ok(store.list(&namespace, user_id, page.pivot(), limit).await?)
    }

    /// Takes a role from a user, at once. Goes on when it is dropped.
    ///
    /// # Errors
    /// A malformed user id, [`Error::Denied`], [`Error::RoleNotFound`], [`Error::RoleBindingNotFound`],
    /// [`Refusal::LastAdministrator`].
    pub async fn delete_role_binding(&self, actor: &Principal, request: &RoleBindingRequest) -> Result<()> {
        self.roles()?;
        let store = self.role_bindings()?.clone();
        no_colon("user_id", &request.user_id)?;
        let namespace = or_default(&request.namespace);
        self.permit(actor, namespace, Permission::RoleBindingDelete, &request.user_id).await?;
        let role = self.role(namespace, &request.role_name).await?;
        let (role_id, user_id, now) = (role.id.clone(), request.user_id.clone(), self.0.clock.now());
        let deleting = async move { store.delete(&role.namespace, &user_id, &role.id, now).await };
        match self.write("delete_role_binding", Change::Permissions, deleting).await? {
            Withdrawn::Done => {
                audit::done(actor, Permission::RoleBindingDelete, format!("{}:{role_id}", request.user_id));
            }
            Withdrawn::Missing => {
                let (namespace, user_id) = (namespace.to_owned(), request.user_id.clone());
                return Err(Error::RoleBindingNotFound { namespace, user_id, role_id });
            }
            Withdrawn::LastAdministrator => return Err(Refusal::LastAdministrator.into()),
        }
        Ok(())
    }
}
