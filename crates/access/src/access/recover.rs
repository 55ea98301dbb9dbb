//! Recovers a store that no caller can administer.

use leasehold_queue::{DEFAULT_NAMESPACE, Namespace};

use super::users::check_username;
use super::{Access, CreatedApiKey};
use crate::store::{ApiKeyAdded, RoleBindingAdded, UserAdded};
use crate::{
    ANONYMOUS, ApiKey, ApiKeyText, Error, Kind, Permission, Refusal, Result, RoleBinding, StandardRole, Tag,
    User,
};

/// Users that are looked through at once.
const PAGE: usize = 1_000;

/// An administrator that was made or got its rights back.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// The id of the user.
    pub user_id: String,
    /// A key of it, without scope and expiry.
    pub key: CreatedApiKey,
}

impl Access {
    /// Gives the user of this name, who is made if need be, the role `Admin` in `_system` and a new key. Needs no
    /// permission: access to the store itself is enough. The standard roles get their permissions back before; anonymous requests
    /// get no right.
    ///
    /// Dropping the call leaves any part of it done; it can be repeated.
    ///
    /// # Errors
    /// A malformed name, or what the store said.
    pub async fn recover(&self, username: &str) -> Result<Recovered> {
        check_username(username)?;
        if username == ANONYMOUS {
            return Err(Refusal::UsernameTaken { username: username.to_owned() }.into());
        }
        let admin_id = self.prepare_records().await?.ok_or(Error::NotConfigured { kind: Kind::Role })?;
        let user_id = self.user_named(username).await?;
        self.refuse_foreign_keys(&user_id, username).await?;
        let now = self.0.clock.now();
        let binding = RoleBinding {
            id: self.id(),
            namespace: Namespace::default(),
            user_id: user_id.clone(),
            role_id: admin_id.clone(),
            created_at: now,
        };
        match self.role_bindings()?.add(&binding).await? {
            RoleBindingAdded::Added | RoleBindingAdded::Exists => {}
            RoleBindingAdded::UserMissing => return Err(Error::UserNotFound { id: user_id }),
            RoleBindingAdded::RoleMissing => {
                return Err(Error::RoleNotFound {
                    namespace: DEFAULT_NAMESPACE.to_owned(),
                    name: StandardRole::Admin.name().to_owned(),
                });
            }
        }
        let key = ApiKeyText::generate(&Tag::default());
        let record = ApiKey {
            id: self.id(),
            user_id: user_id.clone(),
            namespace_scope: None,
            name: "recovered".to_owned(),
            prefix: key.prefix(),
            hash: key.hash(),
            expires_at: None,
            last_used_at: None,
            created_at: now,
        };
        match self.api_keys()?.add(&record).await? {
            ApiKeyAdded::Added => {}
            ApiKeyAdded::IdExists => return Err(Refusal::ApiKeyExists.into()),
            ApiKeyAdded::HashExists => return Err(Refusal::ApiKeyHashExists.into()),
            ApiKeyAdded::UserMissing => return Err(Error::UserNotFound { id: user_id }),
        }
        Ok(Recovered { user_id, key: CreatedApiKey { id: record.id, key, prefix: record.prefix } })
    }

    /// Refuses a user without administration who has keys: each of them would administer from then on.
    async fn refuse_foreign_keys(&self, user_id: &str, username: &str) -> Result<()> {
        let mut rights = self.role_bindings()?.rights_of(user_id).await?;
        let held = rights.remove(&Namespace::default()).unwrap_or_default();
        let administers = held.contains_all(Permission::ALL.iter().collect());
        if administers || self.api_keys()?.list(Some(user_id), "", 1).await?.is_empty() {
            return Ok(());
        }
        Err(Refusal::UserHasKeys { username: username.to_owned() }.into())
    }

    /// The id of the user of this name, who is made if there is none.
    async fn user_named(&self, username: &str) -> Result<String> {
        let (store, now) = (self.users()?, self.0.clock.now());
        let user = User {
            id: self.id(),
            username: username.to_owned(),
            external_id: String::new(),
            email: String::new(),
            created_at: now,
            updated_at: now,
        };
        match store.add(&user).await? {
            UserAdded::Added => return Ok(user.id),
            UserAdded::IdExists => return Err(Refusal::UserExists { id: user.id }.into()),
            UserAdded::UsernameTaken => {}
        }
        let mut pivot = String::new();
        loop {
            let page = store.list(&pivot, PAGE).await?;
            if let Some(found) = page.iter().find(|user| user.username == username) {
                return Ok(found.id.clone());
            }
            match page.last() {
                // The pivot itself is listed again.
                Some(last) if page.len() == PAGE => pivot = format!("{}\u{1}", last.id),
                _ => return Err(Refusal::UsernameTaken { username: username.to_owned() }.into()),
            }
        }
    }
}
