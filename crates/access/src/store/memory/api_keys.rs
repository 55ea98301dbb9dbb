use async_trait::async_trait;
use leasehold_core::Timestamp;

use super::{MemoryStore, page};
use crate::store::{ApiKeyAdded, ApiKeyStore, Result, Withdrawn};
use crate::{ApiKey, ApiKeyHash};

#[async_trait]
impl ApiKeyStore for MemoryStore {
    async fn get_by_hash(&self, hash: &ApiKeyHash) -> Result<Option<ApiKey>> {
        let tables = self.tables.read();
        Ok(tables.api_key_ids.get(hash).and_then(|id| tables.api_keys.get(id)).cloned())
    }

    async fn add(&self, key: &ApiKey) -> Result<ApiKeyAdded> {
        let mut tables = self.tables.write();
        if !tables.users.contains_key(&key.user_id) {
            return Ok(ApiKeyAdded::UserMissing);
        }
        if tables.api_keys.contains_key(&key.id) {
            return Ok(ApiKeyAdded::IdExists);
        }
        if tables.api_key_ids.contains_key(&key.hash) {
            return Ok(ApiKeyAdded::HashExists);
        }
        tables.api_key_ids.insert(key.hash, key.id.clone());
        tables.api_keys.insert(key.id.clone(), key.clone());
        Ok(ApiKeyAdded::Added)
    }

    async fn list(&self, user_id: Option<&str>, pivot: &str, limit: usize) -> Result<Vec<ApiKey>> {
        let wanted = |key: &ApiKey| user_id.is_none_or(|user_id| key.user_id == user_id);
        Ok(page(&self.tables.read().api_keys, pivot, limit, wanted))
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        Ok(self.withdraw(now, |tables| {
            let Some(key) = tables.api_keys.remove(id) else { return false };
            tables.api_key_ids.remove(&key.hash).is_some()
        }))
    }

    async fn update_last_used(&self, id: &str, used_at: Timestamp) -> Result<()> {
        if let Some(key) = self.tables.write().api_keys.get_mut(id) {
            key.last_used_at = key.last_used_at.max(Some(used_at));
        }
        Ok(())
    }
}
