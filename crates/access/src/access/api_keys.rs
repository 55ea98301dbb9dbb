//! Keys: create, list, delete. All are judged in `_system`.

use leasehold_core::Timestamp;
use leasehold_queue::DEFAULT_NAMESPACE;

use super::fields::{no_nul, not_empty, not_longer};
use super::{Access, audit};
use crate::store::{ApiKeyAdded, Change, Withdrawn};
use crate::{ApiKey, ApiKeyText, Error, Page, Permission, Principal, Refusal, Result, Tag};

const NAME_BYTES_MAX: usize = 128;
/// No namespace has a longer name.
const SCOPE_BYTES_MAX: usize = 256;

/// A key as it shall be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiKeyRequest {
    /// Whose it is.
    pub user_id: String,
    /// What people call it; may be empty.
    pub name: String,
    /// The one namespace it is good for; all if empty.
    pub namespace_scope: String,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// Its readable part; if empty, the namespace's, or `live`.
    pub key_tag: String,
}

impl ApiKeyRequest {
    fn parse(&self) -> Result<Option<Tag>, Refusal> {
        not_empty("user_id", &self.user_id)?;
        not_longer("name", &self.name, NAME_BYTES_MAX)?;
        let tag = Tag::parse("key_tag", &self.key_tag)?;
        not_longer("namespace_scope", &self.namespace_scope, SCOPE_BYTES_MAX)?;
        no_nul("name", &self.name)?;
        no_nul("namespace_scope", &self.namespace_scope)?;
        Ok(tag)
    }
}

/// A key that was just made.
#[derive(Clone, Debug)]
pub struct CreatedApiKey {
    /// The id of its record.
    pub id: String,
    /// The key. Nothing can show it again.
    pub key: ApiKeyText,
    /// The part of it that may be shown.
    pub prefix: String,
}

impl Access {
    /// Makes a key that opens nothing which its creator may not do. Dropping the call leaves it made or not; if it is,
    /// no caller has its text, and it may be deleted.
    ///
    /// # Errors
    /// A field that is missing, too long or malformed, [`Error::Denied`], [`Error::UserNotFound`].
    pub async fn create_api_key(&self, actor: &Principal, request: &ApiKeyRequest) -> Result<CreatedApiKey> {
        let (users, store) = (self.users()?, self.api_keys()?);
        let tag = request.parse()?;
        self.permit(actor, DEFAULT_NAMESPACE, Permission::ApiKeyCreate, &request.user_id).await?;
        let no_user = || Error::UserNotFound { id: request.user_id.clone() };
        users.get(&request.user_id).await?.ok_or_else(no_user)?;
        self.permit_api_key(actor, &request.user_id, &request.namespace_scope).await?;
        let tag = match tag {
            Some(tag) => tag,
            None => self.tag_of(&request.namespace_scope).await?.unwrap_or_default(),
        };
        let key = ApiKeyText::generate(&tag);
        let record = ApiKey {
            id: self.id(),
            user_id: request.user_id.clone(),
            namespace_scope: Some(request.namespace_scope.clone()).filter(|scope| !scope.is_empty()),
            name: request.name.clone(),
            prefix: key.prefix(),
            hash: key.hash(),
            expires_at: request.expires_at,
            last_used_at: None,
            created_at: self.0.clock.now(),
        };
        match store.add(&record).await? {
            ApiKeyAdded::Added => audit::done(actor, Permission::ApiKeyCreate, &record.id),
            ApiKeyAdded::IdExists => return Err(Refusal::ApiKeyExists.into()),
            ApiKeyAdded::HashExists => return Err(Refusal::ApiKeyHashExists.into()),
            ApiKeyAdded::UserMissing => return Err(no_user()),
        }
        Ok(CreatedApiKey { id: record.id, key, prefix: record.prefix })
    }

    /// Keys in the order of their ids, of one user or, if that is empty, of all. The keys themselves are not known.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub async fn list_api_keys(&self, actor: &Principal, user_id: &str, page: &Page) -> Result<Vec<ApiKey>> {
        let store = self.api_keys()?;
        self.authorise(actor, DEFAULT_NAMESPACE, Permission::ApiKeyList).await?;
        let Some(limit) = page.limit() else { return Ok(Vec::new()) };
        Ok(store.list(Some(user_id).filter(|user_id| !user_id.is_empty()), page.pivot(), limit).await?)
    }

    /// Deletes a key: from here on it is refused. Goes on when it is dropped.
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::ApiKeyNotFound`], [`Refusal::LastAdministrator`].
    pub async fn delete_api_key(&self, actor: &Principal, id: &str) -> Result<()> {
        let store = self.api_keys()?.clone();
        self.permit(actor, DEFAULT_NAMESPACE, Permission::ApiKeyDelete, id).await?;
        let (change, deleting, now) =
            (Change::ApiKey { id: id.to_owned() }, id.to_owned(), self.0.clock.now());
        match self.write("delete_api_key", change, async move { store.delete(&deleting, now).await }).await? {
            Withdrawn::Done => audit::done(actor, Permission::ApiKeyDelete, id),
            Withdrawn::Missing => return Err(Error::ApiKeyNotFound),
            Withdrawn::LastAdministrator => return Err(Refusal::LastAdministrator.into()),
        }
        Ok(())
    }

    /// The tag that a namespace gives to its keys; none if there is no such namespace.
    async fn tag_of(&self, namespace: &str) -> Result<Option<Tag>> {
        let (Some(namespaces), Ok(name)) = (&self.0.stores.namespaces, namespace.parse()) else {
            return Ok(None);
        };
        Ok(namespaces.get(&name).await?.and_then(|found| found.api_key_tag))
    }
}
