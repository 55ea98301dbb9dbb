use std::collections::BTreeSet;

use async_trait::async_trait;
use leasehold_core::Timestamp;
use redb::{Error, ReadableTable, TableDefinition, WriteTransaction};

use super::{EmbeddedStore, page, users};
use crate::store::{ApiKeyAdded, ApiKeyStore, Result, Withdrawn};
use crate::{ApiKey, ApiKeyHash};

/// User, scope, name, prefix, hash, end, last use, beginning.
type Record<'a> = (&'a str, Option<&'a str>, &'a str, &'a str, &'a str, Option<i64>, Option<i64>, i64);

pub(super) const API_KEYS: TableDefinition<'_, &str, Record<'static>> =
    TableDefinition::new("access.api_keys");
/// By hash.
pub(super) const API_KEY_IDS: TableDefinition<'_, &str, &str> = TableDefinition::new("access.api_key_ids");

fn decode(id: &str, record: Record<'_>) -> Result<ApiKey, Error> {
    let (user_id, namespace_scope, name, prefix, hash, expires_at, last_used_at, created_at) = record;
    let broken = || Error::Corrupted("the record of a key has no hash".to_owned());
    Ok(ApiKey {
        id: id.to_owned(),
        user_id: user_id.to_owned(),
        namespace_scope: namespace_scope.map(str::to_owned),
        name: name.to_owned(),
        prefix: prefix.to_owned(),
        hash: ApiKeyHash::from_text(hash).ok_or_else(broken)?,
        expires_at: expires_at.map(Timestamp::from_micros),
        last_used_at: last_used_at.map(Timestamp::from_micros),
        created_at: Timestamp::from_micros(created_at),
    })
}

fn put(table: &mut redb::Table<'_, &'static str, Record<'static>>, key: &ApiKey) -> Result<(), Error> {
    let hash = key.hash.to_text();
    let record = (
        key.user_id.as_str(),
        key.namespace_scope.as_deref(),
        key.name.as_str(),
        key.prefix.as_str(),
        hash.as_str(),
        key.expires_at.map(Timestamp::as_micros),
        key.last_used_at.map(Timestamp::as_micros),
        key.created_at.as_micros(),
    );
    table.insert(key.id.as_str(), record)?;
    Ok(())
}

/// Removes a key within a transaction; false if there is none.
fn remove(write: &WriteTransaction, id: &str) -> Result<bool, Error> {
    let mut keys = write.open_table(API_KEYS)?;
    let Some(hash) = keys.remove(id)?.map(|found| found.value().4.to_owned()) else { return Ok(false) };
    write.open_table(API_KEY_IDS)?.remove(hash.as_str())?;
    Ok(true)
}

pub(super) fn delete_of_user(write: &WriteTransaction, user_id: &str) -> Result<(), Error> {
    let of_user = |id: &str, record: Record<'_>| Ok((record.0 == user_id).then(|| id.to_owned()));
    let ids = page(&write.open_table(API_KEYS)?, "", usize::MAX, of_user)?;
    for id in ids {
        remove(write, &id)?;
    }
    Ok(())
}

/// When the keys of these users end that are scoped to no namespace.
pub(super) fn unscoped_expiries(
    write: &WriteTransaction,
    users: &BTreeSet<String>,
) -> Result<Vec<Option<Timestamp>>, Error> {
    if users.is_empty() {
        return Ok(Vec::new());
    }
    page(&write.open_table(API_KEYS)?, "", usize::MAX, |_, record| {
        let (user_id, scope, .., expires_at, _, _) = record;
        let counts = scope.is_none() && users.contains(user_id);
        Ok(counts.then(|| expires_at.map(Timestamp::from_micros)))
    })
}

#[async_trait]
impl ApiKeyStore for EmbeddedStore {
    async fn get_by_hash(&self, hash: &ApiKeyHash) -> Result<Option<ApiKey>> {
        let hash = hash.to_text();
        self.read("get_api_key", move |read| {
            let Some(id) = read.open_table(API_KEY_IDS)?.get(hash.as_str())? else { return Ok(None) };
            let found = read.open_table(API_KEYS)?.get(id.value())?;
            found.map(|found| decode(id.value(), found.value())).transpose()
        })
        .await
    }

    async fn add(&self, key: &ApiKey) -> Result<ApiKeyAdded> {
        let key = key.clone();
        self.write("add_api_key", move |write| {
            if write.open_table(users::USERS)?.get(key.user_id.as_str())?.is_none() {
                return Ok(ApiKeyAdded::UserMissing);
            }
            let (mut keys, mut ids) = (write.open_table(API_KEYS)?, write.open_table(API_KEY_IDS)?);
            let hash = key.hash.to_text();
            if keys.get(key.id.as_str())?.is_some() {
                return Ok(ApiKeyAdded::IdExists);
            }
            if ids.get(hash.as_str())?.is_some() {
                return Ok(ApiKeyAdded::HashExists);
            }
            ids.insert(hash.as_str(), key.id.as_str())?;
            put(&mut keys, &key)?;
            Ok(ApiKeyAdded::Added)
        })
        .await
    }

    async fn list(&self, user_id: Option<&str>, pivot: &str, limit: usize) -> Result<Vec<ApiKey>> {
        let (user_id, pivot) = (user_id.map(str::to_owned), pivot.to_owned());
        self.read("list_api_keys", move |read| {
            page(&read.open_table(API_KEYS)?, &pivot, limit, |id, record| {
                let wanted = user_id.as_deref().is_none_or(|user_id| record.0 == user_id);
                wanted.then(|| decode(id, record)).transpose()
            })
        })
        .await
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        let id = id.to_owned();
        self.withdraw("delete_api_key", now, move |write| remove(write, &id)).await
    }

    async fn update_last_used(&self, id: &str, used_at: Timestamp) -> Result<()> {
        let id = id.to_owned();
        self.write("update_last_used", move |write| {
            let mut keys = write.open_table(API_KEYS)?;
            let found = keys.get(id.as_str())?.map(|found| decode(&id, found.value())).transpose()?;
            if let Some(mut key) = found {
                key.last_used_at = key.last_used_at.max(Some(used_at));
                put(&mut keys, &key)?;
            }
            Ok(())
        })
        .await
    }
}
