use async_trait::async_trait;

use super::{MemoryStore, page};
use crate::User;
use crate::store::{Result, UserAdded, UserStore};

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

    async fn delete(&self, id: &str) -> Result<bool> {
        let mut tables = self.tables.write();
        tables.api_keys.retain(|_, key| key.user_id != id);
        let tables = &mut *tables;
        tables.api_key_ids.retain(|_, key_id| tables.api_keys.contains_key(key_id));
        tables.role_bindings.retain(|_, binding| binding.user_id != id);
        Ok(tables.users.remove(id).is_some())
    }
}
