use async_trait::async_trait;
use leasehold_queue::Namespace;

use super::{MemoryStore, page};
use crate::store::{Deleted, NamespaceStore, Result};
use crate::{NamespaceInfo, Tag};

#[async_trait]
impl NamespaceStore for MemoryStore {
    async fn get(&self, name: &Namespace) -> Result<Option<NamespaceInfo>> {
        Ok(self.tables.read().namespaces.get(name.as_str()).cloned())
    }

    async fn add(&self, info: &NamespaceInfo) -> Result<bool> {
        let mut tables = self.tables.write();
        let free = !tables.namespaces.contains_key(info.name.as_str());
        if free {
            tables.namespaces.insert(info.name.as_str().to_owned(), info.clone());
        }
        Ok(free)
    }

    async fn update(&self, name: &Namespace, description: &str, api_key_tag: Option<&Tag>) -> Result<bool> {
        let mut tables = self.tables.write();
        let Some(found) = tables.namespaces.get_mut(name.as_str()) else { return Ok(false) };
        found.description = description.to_owned();
        found.api_key_tag = api_key_tag.cloned();
        Ok(true)
    }

    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<NamespaceInfo>> {
        Ok(page(&self.tables.read().namespaces, pivot, limit, |_| true))
    }

    async fn delete(&self, name: &Namespace) -> Result<Deleted> {
        let mut tables = self.tables.write();
        if tables.roles.values().any(|role| role.namespace == *name) {
            return Ok(Deleted::InUse);
        }
        let found = tables.namespaces.remove(name.as_str());
        Ok(if found.is_some() { Deleted::Deleted } else { Deleted::Missing })
    }
}
