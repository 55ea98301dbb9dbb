//! Namespaces: create, update, list, delete. All are judged in `_system`.

use leasehold_queue::{DEFAULT_NAMESPACE, Namespace};

use super::fields::no_nul;
use super::{Access, audit};
use crate::store::Deleted;
use crate::{Error, NamespaceInfo, Page, Permission, Principal, Refusal, Result, Tag};

/// A namespace as it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceRequest {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// The tag of keys that are scoped to it; may be empty.
    pub api_key_tag: String,
}

impl NamespaceRequest {
    fn parse(&self) -> Result<(Namespace, Option<Tag>), Refusal> {
        let name = self.name.parse()?;
        let tag = Tag::parse("api_key_tag", &self.api_key_tag)?;
        no_nul("description", &self.description)?;
        Ok((name, tag))
    }
}

impl Access {
    /// Makes a namespace. Dropping the call leaves it made or not.
    ///
    /// # Errors
    /// A name that is malformed, reserved or taken; a malformed tag; [`Error::Denied`].
    pub async fn create_namespace(&self, actor: &Principal, request: &NamespaceRequest) -> Result<()> {
        let store = self.namespaces()?;
        let (name, api_key_tag) = request.parse()?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::NamespaceCreate, &request.name).await?;
        not_reserved(&name)?;
        self.bootstrap().await?;
        let created_at = self.0.clock.now();
        let info = NamespaceInfo { name, description: request.description.clone(), api_key_tag, created_at };
        if !store.add(&info).await? {
            return Err(Refusal::NamespaceExists { name: request.name.clone() }.into());
        }
        audit::done(actor, Permission::NamespaceCreate, &request.name);
        Ok(())
    }

    /// Replaces description and tag. Dropping the call leaves them replaced or not.
    ///
    /// # Errors
    /// A malformed name or tag, [`Error::Denied`], [`Error::NamespaceNotFound`].
    pub async fn update_namespace(&self, actor: &Principal, request: &NamespaceRequest) -> Result<()> {
        let store = self.namespaces()?;
        let (name, api_key_tag) = request.parse()?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::NamespaceUpdate, &request.name).await?;
        self.bootstrap().await?;
        if !store.update(&name, &request.description, api_key_tag.as_ref()).await? {
            return Err(Error::NamespaceNotFound { name: request.name.clone() });
        }
        audit::done(actor, Permission::NamespaceUpdate, &request.name);
        Ok(())
    }

    /// Passes if queues may be made there: the namespace exists, or nobody keeps a list of them.
    ///
    /// # Errors
    /// [`Error::NamespaceNotFound`], or what the store said.
    pub async fn namespace_exists(&self, name: &Namespace) -> Result<()> {
        let Some(store) = &self.0.stores.namespaces else { return Ok(()) };
        self.bootstrap().await?;
        match store.get(name).await? {
            Some(_) => Ok(()),
            None => Err(Error::NamespaceNotFound { name: name.to_string() }),
        }
    }

    /// Namespaces in the order of their names.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub async fn list_namespaces(&self, actor: &Principal, page: &Page) -> Result<Vec<NamespaceInfo>> {
        let store = self.namespaces()?;
        self.authorise(actor, DEFAULT_NAMESPACE, Permission::NamespaceList).await?;
        self.bootstrap().await?;
        let Some(limit) = page.limit() else { return Ok(Vec::new()) };
        Ok(store.list(page.pivot(), limit).await?)
    }

    /// Deletes a namespace with nothing in it. Dropping the call leaves it deleted or not.
    ///
    /// # Errors
    /// A malformed or reserved name, a namespace that is in use, [`Error::Denied`], [`Error::NamespaceNotFound`].
    pub async fn delete_namespace(&self, actor: &Principal, name: &str) -> Result<()> {
        let (store, bindings, roles) = (self.namespaces()?, self.role_bindings()?, self.roles()?);
        let namespace: Namespace = name.parse().map_err(Refusal::from)?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::NamespaceDelete, name).await?;
        not_reserved(&namespace)?;
        let name = || name.to_owned();
        if !bindings.list(&namespace, None, "", 1).await?.is_empty() {
            return Err(Refusal::NamespaceHasBindings { name: name() }.into());
        }
        if !roles.list(&namespace, "", 1).await?.is_empty() {
            return Err(Refusal::NamespaceHasRoles { name: name() }.into());
        }
        let has_queues = self.0.namespace_use.has_queues(&namespace).await;
        if has_queues.map_err(|source| Error::NamespaceUse { name: name(), source })? {
            return Err(Refusal::NamespaceHasQueues { name: name() }.into());
        }
        match store.delete(&namespace).await? {
            Deleted::Deleted => audit::done(actor, Permission::NamespaceDelete, name()),
            Deleted::Missing => return Err(Error::NamespaceNotFound { name: name() }),
            Deleted::InUse => return Err(Refusal::NamespaceHasRoles { name: name() }.into()),
        }
        Ok(())
    }
}

fn not_reserved(name: &Namespace) -> Result<(), Refusal> {
    match name.as_str().starts_with('_') {
        true => Err(Refusal::NamespaceReserved { name: name.to_string() }),
        false => Ok(()),
    }
}
