//! Where namespaces, users, keys, roles, bindings and permitted dead queues are kept: the least a store must do.
//!
//! One store keeps all kinds, because a write of one is conditional on another: a binding is added only while its
//! role and its user are there, a namespace goes only while no role is in it. Such a condition is judged in the step
//! that writes. Lists are in byte order of their keys and start at the pivot, or at the next key if it is not there.

pub(crate) mod administration;
#[cfg(feature = "dsql")]
pub mod dsql;
#[cfg(feature = "embedded")]
pub mod embedded;
mod error;
pub mod memory;
mod outcome;
#[cfg(feature = "postgres")]
pub mod postgres;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::{Namespace, QueueName};

use crate::{
    ApiKey, ApiKeyHash, DeadQueuePair, NamespaceInfo, Permission, PermissionSet, Role, RoleBinding, Tag, User,
};

pub use error::{Cause, Result, StoreError};
pub use outcome::{ApiKeyAdded, Deleted, RoleAdded, RoleBindingAdded, UserAdded, Withdrawn};

/// The records of namespaces, by name.
#[async_trait]
pub trait NamespaceStore: Send + Sync + 'static {
    /// The record, if there is one.
    ///
    /// # Errors
    /// What the store said, here as in every call.
    async fn get(&self, name: &Namespace) -> Result<Option<NamespaceInfo>>;

    /// Adds a record; false if the name is taken.
    async fn add(&self, info: &NamespaceInfo) -> Result<bool>;

    /// Replaces description and tag; false if there is no record.
    async fn update(&self, name: &Namespace, description: &str, api_key_tag: Option<&Tag>) -> Result<bool>;

    /// Records from the pivot on.
    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<NamespaceInfo>>;

    /// Removes a record that no role is in.
    async fn delete(&self, name: &Namespace) -> Result<Deleted>;
}

/// The records of users, by id.
#[async_trait]
pub trait UserStore: Send + Sync + 'static {
    /// The record, if there is one.
    async fn get(&self, id: &str) -> Result<Option<User>>;

    /// Adds a record whose id and name are free.
    async fn add(&self, user: &User) -> Result<UserAdded>;

    /// Records from the pivot on.
    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<User>>;

    /// Removes a record, and with it, in the same step, all keys and bindings of the user. `now` judges the expiry of
    /// keys, here as in every call that answers [`Withdrawn`].
    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn>;
}

/// The records of keys, by id.
#[async_trait]
pub trait ApiKeyStore: Send + Sync + 'static {
    /// The record of the key with this hash, if there is one.
    async fn get_by_hash(&self, hash: &ApiKeyHash) -> Result<Option<ApiKey>>;

    /// Adds a record whose id and hash are free, of a user that is there.
    async fn add(&self, key: &ApiKey) -> Result<ApiKeyAdded>;

    /// Records from the pivot on, of one user or all.
    async fn list(&self, user_id: Option<&str>, pivot: &str, limit: usize) -> Result<Vec<ApiKey>>;

    /// Removes a record.
    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn>;

    /// Notes that the key was used, unless a later use is noted; fine if it is gone.
    async fn update_last_used(&self, id: &str, used_at: Timestamp) -> Result<()>;
}

/// The records of roles, by id.
#[async_trait]
pub trait RoleStore: Send + Sync + 'static {
    /// The role of this name, if there is one.
    async fn get(&self, namespace: &Namespace, name: &str) -> Result<Option<Role>>;

    /// Adds a record whose id and name are free, in a namespace that is there.
    async fn add(&self, role: &Role) -> Result<RoleAdded>;

    /// Replaces the permissions.
    async fn update(&self, id: &str, permissions: &[Permission], now: Timestamp) -> Result<Withdrawn>;

    /// Records of a namespace from the pivot on.
    async fn list(&self, namespace: &Namespace, pivot: &str, limit: usize) -> Result<Vec<Role>>;

    /// Removes a record that no binding names.
    async fn delete(&self, id: &str) -> Result<Deleted>;
}

/// The records of bindings, by id.
#[async_trait]
pub trait RoleBindingStore: Send + Sync + 'static {
    /// Adds a record of a role and a user that are there, unless the user has the role already.
    async fn add(&self, binding: &RoleBinding) -> Result<RoleBindingAdded>;

    /// As [`add`](Self::add), but only ever once under this mark, also when the binding was removed since: `None` if
    /// it was done before. The mark is set in the step that adds or finds the binding there, and not if it fails.
    async fn add_once(&self, mark: &str, binding: &RoleBinding) -> Result<Option<RoleBindingAdded>>;

    /// Records of a namespace from the pivot on, of one user or all.
    async fn list(
        &self,
        namespace: &Namespace,
        user_id: Option<&str>,
        pivot: &str,
        limit: usize,
    ) -> Result<Vec<RoleBinding>>;

    /// Removes the binding of the user to the role.
    async fn delete(
        &self,
        namespace: &Namespace,
        user_id: &str,
        role_id: &str,
        now: Timestamp,
    ) -> Result<Withdrawn>;

    /// What the roles allow that are bound to the user in the namespace: those of the first bindings, up to the limit.
    async fn permissions_of(
        &self,
        user_id: &str,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<PermissionSet>;

    /// Whether any role is bound to the user, in whatever namespace.
    async fn is_bound(&self, user_id: &str) -> Result<bool>;

    /// What all roles allow that are bound to the user, by namespace; none without a permission.
    async fn rights_of(&self, user_id: &str) -> Result<BTreeMap<Namespace, PermissionSet>>;
}

/// Which queue may send its dead items to a queue of another namespace.
#[async_trait]
pub trait DeadQueueStore: Send + Sync + 'static {
    /// Remembers the pair, in place of what is remembered of a queue of this name.
    async fn permit(&self, pair: &DeadQueuePair) -> Result<()>;

    /// Whether exactly this pair is remembered.
    async fn is_permitted(&self, pair: &DeadQueuePair) -> Result<bool>;

    /// Forgets what is remembered of a queue of this name; fine if that is nothing.
    async fn forget(&self, queue: &QueueName) -> Result<()>;
}

/// What changed in the store, perhaps by the hand of another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A key was deleted.
    ApiKey {
        /// Its id.
        id: String,
    },
    /// A user was deleted, with keys and bindings.
    User {
        /// Its id.
        id: String,
    },
    /// Roles or bindings are not what they were.
    Permissions,
    /// Anything: some changes may have gone unheard.
    Everything,
}

/// Tells a server what others changed in the store that they share.
#[async_trait]
pub trait ChangeFeed: Send + Sync + 'static {
    /// Tells of changes until it is dropped. Says [`Change::Everything`] whenever it begins to hear, so that nothing
    /// from before is trusted; while it does not hear, it is silent.
    async fn run(&self, told: &(dyn Fn(Change) + Send + Sync));
}

/// The stores that a server was given. An operation that needs one that is not there says so.
#[derive(Clone, Default)]
pub struct Stores {
    /// Namespaces.
    pub namespaces: Option<Arc<dyn NamespaceStore>>,
    /// Users.
    pub users: Option<Arc<dyn UserStore>>,
    /// Keys.
    pub api_keys: Option<Arc<dyn ApiKeyStore>>,
    /// Roles.
    pub roles: Option<Arc<dyn RoleStore>>,
    /// Bindings.
    pub role_bindings: Option<Arc<dyn RoleBindingStore>>,
    /// Permitted dead queues.
    pub dead_queues: Option<Arc<dyn DeadQueueStore>>,
    /// What others change, if others can.
    pub changes: Option<Arc<dyn ChangeFeed>>,
}

impl Stores {
    /// None: nothing is kept, and all that needs keeping is refused.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// One store for all kinds, that nobody else writes.
    pub fn of<S>(store: Arc<S>) -> Self
    where
        S: NamespaceStore + UserStore + ApiKeyStore + RoleStore + RoleBindingStore + DeadQueueStore,
    {
        Self {
            namespaces: Some(store.clone()),
            users: Some(store.clone()),
            api_keys: Some(store.clone()),
            roles: Some(store.clone()),
            role_bindings: Some(store.clone()),
            dead_queues: Some(store),
            changes: None,
        }
    }

    /// With news of what others change.
    #[must_use]
    pub fn with_changes(self, changes: Arc<dyn ChangeFeed>) -> Self {
        Self { changes: Some(changes), ..self }
    }
}
