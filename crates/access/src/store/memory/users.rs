use async_trait::async_trait;
use leasehold_core::Timestamp;

use super::{MemoryStore, page};
use crate::User;
use crate::store::{Result, UserAdded, UserStore, Withdrawn};

#[async_trait]
impl UserStore for MemoryStore {
    async fn get(&self, id: &str) -> Result<Option<User>> {
        Ok(self.tables.read().users.get(id).cloned())
    }

    async fn add(&self, user: &User) -> Result<UserAdded> {
        let mut tables = self.tables.write();
        if tables.users.contains_key(&user.id) {
            return Ok(UserAdded::IdExists);
        }
        if tables.users.values().any(|other| other.username == user.username) {
            return Ok(UserAdded::UsernameTaken);
        }
        tables.users.insert(user.id.clone(), user.clone());
        Ok(UserAdded::Added)
    }

    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<User>> {
        Ok(page(&self.tables.read().users, pivot, limit, |_| true))
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        Ok(self.withdraw(now, |tables| {
            tables.api_keys.retain(|_, key| key.user_id != id);
            tables.api_key_ids.retain(|_, key_id| tables.api_keys.contains_key(key_id));
            tables.role_bindings.retain(|_, binding| binding.user_id != id);
            tables.users.remove(id).is_some()
        }))
    }
}
