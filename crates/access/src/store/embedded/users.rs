use async_trait::async_trait;
use leasehold_core::Timestamp;
use redb::{ReadableTable, TableDefinition};

use super::{EmbeddedStore, api_keys, page, role_bindings};
use crate::User;
use crate::store::{Result, UserAdded, UserStore, Withdrawn};

/// Name, external id, email, beginning, last change.
type Record<'a> = (&'a str, &'a str, &'a str, i64, i64);

pub(super) const USERS: TableDefinition<'_, &str, Record<'static>> = TableDefinition::new("access.users");
/// By name.
pub(super) const USER_IDS: TableDefinition<'_, &str, &str> = TableDefinition::new("access.user_ids");

fn decode(id: &str, (username, external_id, email, created_at, updated_at): Record<'_>) -> User {
    User {
        id: id.to_owned(),
        username: username.to_owned(),
        external_id: external_id.to_owned(),
        email: email.to_owned(),
        created_at: Timestamp::from_micros(created_at),
        updated_at: Timestamp::from_micros(updated_at),
    }
}

#[async_trait]
impl UserStore for EmbeddedStore {
    async fn get(&self, id: &str) -> Result<Option<User>> {
        let id = id.to_owned();
        self.read("get_user", move |read| {
            let found = read.open_table(USERS)?.get(id.as_str())?;
            Ok(found.map(|found| decode(&id, found.value())))
        })
        .await
    }

    async fn add(&self, user: &User) -> Result<UserAdded> {
        let user = user.clone();
        self.write("add_user", move |write| {
            let (mut users, mut ids) = (write.open_table(USERS)?, write.open_table(USER_IDS)?);
            if users.get(user.id.as_str())?.is_some() {
                return Ok(UserAdded::IdExists);
            }
            if ids.get(user.username.as_str())?.is_some() {
                return Ok(UserAdded::UsernameTaken);
            }
            ids.insert(user.username.as_str(), user.id.as_str())?;
            let (created_at, updated_at) = (user.created_at.as_micros(), user.updated_at.as_micros());
            let names = (user.username.as_str(), user.external_id.as_str(), user.email.as_str());
            users.insert(user.id.as_str(), (names.0, names.1, names.2, created_at, updated_at))?;
            Ok(UserAdded::Added)
        })
        .await
    }

    async fn list(&self, pivot: &str, limit: usize) -> Result<Vec<User>> {
        let pivot = pivot.to_owned();
        self.read("list_users", move |read| {
            page(&read.open_table(USERS)?, &pivot, limit, |id, record| Ok(Some(decode(id, record))))
        })
        .await
    }

    async fn delete(&self, id: &str, now: Timestamp) -> Result<Withdrawn> {
        let id = id.to_owned();
        self.withdraw("delete_user", now, move |write| {
            let mut users = write.open_table(USERS)?;
            let Some(username) = users.remove(id.as_str())?.map(|found| found.value().0.to_owned()) else {
                return Ok(false);
            };
            write.open_table(USER_IDS)?.remove(username.as_str())?;
            api_keys::delete_of_user(write, &id)?;
            role_bindings::delete_of_user(write, &id)?;
            Ok(true)
        })
        .await
    }
}
