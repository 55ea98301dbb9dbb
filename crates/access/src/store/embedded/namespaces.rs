use async_trait::async_trait;
use leasehold_core::Timestamp;
use leasehold_queue::Namespace;
use redb::{Error, ReadableTable, TableDefinition};

use super::{EmbeddedStore, namespace, page, roles};
use crate::store::{Deleted, NamespaceStore, Result};
use crate::{NamespaceInfo, Tag};

/// Description, tag (empty for none), beginning.
type Record<'a> = (&'a str, &'a str, i64);

pub(super) const NAMESPACES: TableDefinition<'_, &str, Record<'static>> =
    TableDefinition::new("access.namespaces");

fn decode(name: &str, (description, tag, created_at): Record<'_>) -> Result<NamespaceInfo, Error> {
    Ok(NamespaceInfo {
        name: namespace(name)?,
        description: description.to_owned(),
        api_key_tag: Tag::parse("api_key_tag", tag)
            .map_err(|refusal| Error::Corrupted(refusal.to_string()))?,
        created_at: Timestamp::from_micros(created_at),
    })
}

fn tag_text(tag: Option<&Tag>) -> &str {
    tag.map_or("", Tag::as_str)
}

#[async_trait]
impl NamespaceStore for EmbeddedStore {
    async fn get(&self, name: &Namespace) -> Result<Option<NamespaceInfo>> {
        let name = name.clone();
        self.read("get_namespace", move |read| {
            let found = read.open_table(NAMESPACES)?.get(name.as_str())?;
            found.map(|found| decode(name.as_str(), found.value())).transpose()
        })
        .await
    }

    async fn add(&self, info: &NamespaceInfo) -> Result<bool> {
        let info = info.clone();
        self.write("add_namespace", move |write| {
            let mut namespaces = write.open_table(NAMESPACES)?;
            if namespaces.get(info.name.as_str())?.is_some() {
                return Ok(false);
            }
            let tag = tag_text(info.api_key_tag.as_ref());
            let record = (info.description.as_str(), tag, info.created_at.as_micros());
            namespaces.insert(info.name.as_str(), record)?;
            Ok(true)
        })
        .await
    }

    async fn update(&self, name: &Namespace, description: &str, api_key_tag: Option<&Tag>) -> Result<bool> {
        let (name, description, tag) = (name.clone(), description.to_owned(), api_key_tag.cloned());
        self.write("update_namespace", move |write| {
            let mut namespaces = write.open_table(NAMESPACES)?;
            let created_at = namespaces.get(name.as_str())?.map(|found| found.value().2);
            let Some(created_at) = created_at else { return Ok(false) };
            namespaces.insert(name.as_str(), (description.as_str(), tag_text(tag.as_ref()), created_at))?;
            Ok(true)
        })
        .await
    }

    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<NamespaceInfo>> {
        let pivot = pivot.to_owned();
        self.read("list_namespaces", move |read| {
            page(&read.open_table(NAMESPACES)?, &pivot, limit, |name, record| decode(name, record).map(Some))
        })
        .await
    }

    async fn delete(&self, name: &Namespace) -> Result<Deleted> {
        let name = name.clone();
        self.write("delete_namespace", move |write| {
            let role_ids = write.open_table(roles::ROLE_IDS)?;
            let mut from_here = role_ids.range((name.as_str(), "")..)?;
            if from_here.next().transpose()?.is_some_and(|(key, _)| key.value().0 == name.as_str()) {
                return Ok(Deleted::InUse);
            }
            let found = write.open_table(NAMESPACES)?.remove(name.as_str())?.is_some();
            Ok(if found { Deleted::Deleted } else { Deleted::Missing })
        })
        .await
    }
}
