//! A store that counts what it is asked, and waits or fails when it is told to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use leasehold_access::store::memory::MemoryStore;
use leasehold_access::store::{
    ApiKeyAdded, ApiKeyStore, NamespaceStore, Result, RoleBindingAdded, RoleBindingStore, StoreError,
    Withdrawn,
};
use leasehold_access::{ApiKey, ApiKeyHash, NamespaceInfo, PermissionSet, RoleBinding, Stores, Tag};
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use tokio::sync::Semaphore;

pub(crate) struct Probe {
    memory: Arc<MemoryStore>,
    /// Lookups of keys.
    pub(crate) key_reads: AtomicUsize,
    /// Lookups of permissions.
    pub(crate) permission_reads: AtomicUsize,
    /// Every call fails.
    pub(crate) is_down: AtomicBool,
    /// Lookups of keys take one of these, and wait while there is none.
    pub(crate) gate: Semaphore,
}

impl Probe {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            memory: Arc::default(),
            key_reads: AtomicUsize::new(0),
            permission_reads: AtomicUsize::new(0),
            is_down: AtomicBool::new(false),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        })
    }

    pub(crate) fn stores(self: &Arc<Self>) -> Stores {
        Stores {
            namespaces: Some(self.clone()),
            api_keys: Some(self.clone()),
            role_bindings: Some(self.clone()),
            ..Stores::of(self.memory.clone())
        }
    }

    /// From here on lookups of keys wait.
    pub(crate) fn close_gate(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    fn answer(&self, operation: &'static str) -> Result<()> {
        match self.is_down.load(Ordering::SeqCst) {
            true => Err(StoreError::Unavailable { operation, source: "down".into() }),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl NamespaceStore for Probe {
    async fn get(&self, name: &Namespace) -> Result<Option<NamespaceInfo>> {
        NamespaceStore::get(&*self.memory, name).await
    }

    async fn add(&self, info: &NamespaceInfo) -> Result<bool> {
        self.answer("add")?;
        NamespaceStore::add(&*self.memory, info).await
    }

    async fn update(&self, name: &Namespace, description: &str, api_key_tag: Option<&Tag>) -> Result<bool> {
        NamespaceStore::update(&*self.memory, name, description, api_key_tag).await
    }

    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<NamespaceInfo>> {
        NamespaceStore::list(&*self.memory, pivot, limit).await
    }

    async fn delete(&self, name: &Namespace) -> Result<leasehold_access::store::Deleted> {
        NamespaceStore::delete(&*self.memory, name).await
    }
}

#[async_trait]
impl ApiKeyStore for Probe {
    async fn get_by_hash(&self, hash: &ApiKeyHash) -> Result<Option<ApiKey>> {
        self.key_reads.fetch_add(1, Ordering::SeqCst);
        self.answer("get_by_hash")?;
        let found = self.memory.get_by_hash(hash).await;
        // What was read may be old by the time it is told.
        self.gate.acquire().await.expect("is never closed for good").forget();
        found
    }

    async fn add(&self, key: &ApiKey) -> Result<ApiKeyAdded> {
        ApiKeyStore::add(&*self.memory, key).await
    }

    async fn list(&self, user_id: Option<&str>, pivot: &str, limit: usize) -> Result<Vec<ApiKey>> {
        ApiKeyStore::list(&*self.memory, user_id, pivot, limit).await
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        ApiKeyStore::delete(&*self.memory, id, now).await
    }

    async fn update_last_used(&self, id: &str, used_at: Timestamp) -> Result<()> {
        self.memory.update_last_used(id, used_at).await
    }
}

#[async_trait]
impl RoleBindingStore for Probe {
    async fn add(&self, binding: &RoleBinding) -> Result<RoleBindingAdded> {
        RoleBindingStore::add(&*self.memory, binding).await
    }

    async fn add_once(&self, mark: &str, binding: &RoleBinding) -> Result<Option<RoleBindingAdded>> {
        self.memory.add_once(mark, binding).await
    }

    async fn list(
        &self,
        namespace: &Namespace,
        user_id: Option<&str>,
        pivot: &str,
        limit: usize,
    ) -> Result<Vec<RoleBinding>> {
        RoleBindingStore::list(&*self.memory, namespace, user_id, pivot, limit).await
    }

    async fn delete(
        &self,
        namespace: &Namespace,
        user_id: &str,
        role_id: &str,
        now: Timestamp,
    ) -> Result<Withdrawn> {
        RoleBindingStore::delete(&*self.memory, namespace, user_id, role_id, now).await
    }

    async fn permissions_of(
        &self,
        user_id: &str,
        namespace: &Namespace,
        limit: usize,
    ) -> Result<PermissionSet> {
        self.permission_reads.fetch_add(1, Ordering::SeqCst);
        self.answer("permissions_of")?;
        self.memory.permissions_of(user_id, namespace, limit).await
    }

    async fn is_bound(&self, user_id: &str) -> Result<bool> {
        self.answer("is_bound")?;
        self.memory.is_bound(user_id).await
    }

    async fn rights_of(&self, user_id: &str) -> Result<BTreeMap<Namespace, PermissionSet>> {
        self.memory.rights_of(user_id).await
    }
}
