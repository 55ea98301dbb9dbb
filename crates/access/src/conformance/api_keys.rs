//! Keys are kept by id and found by hash.

use std::time::Duration;

use super::{Store, TIME, api_key, user};
use crate::ApiKey;
use crate::store::{ApiKeyAdded, Withdrawn};

async fn added(store: &Store, key: ApiKey) -> ApiKey {
    assert_eq!(store.api_keys().add(&key).await.expect("answers"), ApiKeyAdded::Added);
    key
}

/// Every field, and by no other hash.
pub async fn key_reads_back_by_its_hash(store: &Store) {
    let user = store.user("u1").await;
    let key = added(store, api_key("k1", &user)).await;
    assert_eq!(store.api_keys().get_by_hash(&key.hash).await.expect("answers"), Some(key));
    let other = api_key("k2", &user);
    assert_eq!(store.api_keys().get_by_hash(&other.hash).await.expect("answers"), None);
}

/// No scope and no times are not the same as empty ones.
pub async fn key_without_ends_reads_back(store: &Store) {
    let user = store.user("u1").await;
    let bare =
        ApiKey { namespace_scope: None, expires_at: None, name: String::new(), ..api_key("k1", &user) };
    let key = added(store, bare).await;
    assert_eq!(store.api_keys().get_by_hash(&key.hash).await.expect("answers"), Some(key));
}

/// Each by itself.
pub async fn id_and_hash_of_a_key_are_unique(store: &Store) {
    let user = store.user("u1").await;
    let key = added(store, api_key("k1", &user)).await;
    let same_id = api_key("k1", &user);
    assert_eq!(store.api_keys().add(&same_id).await.expect("answers"), ApiKeyAdded::IdExists);
    let same_hash = ApiKey { id: "k2".to_owned(), ..key.clone() };
    assert_eq!(store.api_keys().add(&same_hash).await.expect("answers"), ApiKeyAdded::HashExists);
    assert_eq!(store.api_keys().list(None, "", 9).await.expect("answers"), [key]);
}

/// A key of nobody would be a key that no deletion of a user takes away.
pub async fn key_needs_its_user(store: &Store) {
    let key = api_key("k1", &user("nobody"));
    assert_eq!(store.api_keys().add(&key).await.expect("answers"), ApiKeyAdded::UserMissing);
    assert_eq!(store.api_keys().get_by_hash(&key.hash).await.expect("answers"), None);
}

/// From the pivot on.
pub async fn keys_are_listed_by_id_of_one_user_or_all(store: &Store) {
    let (one, other) = (store.user("u1").await, store.user("u2").await);
    for (id, user) in [("k3", &one), ("k1", &one), ("k2", &other), ("K4", &one)] {
        added(store, api_key(id, user)).await;
    }
    let list = async |user_id, pivot: &str, limit| {
        let listed = store.api_keys().list(user_id, pivot, limit).await.expect("answers");
        listed.into_iter().map(|key| key.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, "", 9).await, ["K4", "k1", "k2", "k3"]);
    assert_eq!(list(Some("u1"), "", 9).await, ["K4", "k1", "k3"]);
    assert_eq!(list(Some("u1"), "k2", 9).await, ["k3"], "filtered, then cut");
    assert_eq!(list(Some("u1"), "k1", 1).await, ["k1"]);
    assert!(list(Some("u3"), "", 9).await.is_empty());
}

/// From every list and by its hash.
pub async fn deleted_key_is_gone(store: &Store) {
    let user = store.user("u1").await;
    let key = added(store, api_key("k1", &user)).await;
    assert_eq!(store.api_keys().delete("k1", TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(store.api_keys().delete("k1", TIME).await.expect("answers"), Withdrawn::Missing);
    assert_eq!(store.api_keys().get_by_hash(&key.hash).await.expect("answers"), None);
    assert!(store.api_keys().list(None, "", 9).await.expect("answers").is_empty());
    added(store, key).await;
}

/// Two servers note it in either order.
pub async fn last_use_only_moves_on(store: &Store) {
    let user = store.user("u1").await;
    let key = added(store, api_key("k1", &user)).await;
    let later = TIME.saturating_add(Duration::from_micros(1));
    for used_at in [later, TIME] {
        store.api_keys().update_last_used("k1", used_at).await.expect("answers");
    }
    let found = store.api_keys().get_by_hash(&key.hash).await.expect("answers").expect("is there");
    assert_eq!(found, ApiKey { last_used_at: Some(later), ..key });
    store.api_keys().update_last_used("gone", TIME).await.expect("a key that is gone is fine");
}
