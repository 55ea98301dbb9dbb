//! Users are kept by id, and what is theirs goes with them.

use super::{HOSTILE, Store, TIME, api_key, namespace, user};
use crate::store::{ApiKeyAdded, UserAdded, Withdrawn};
use crate::{Permission, PermissionSet, User};

/// Every field.
pub async fn user_reads_back(store: &Store) {
    let added = store.user("u1").await;
    assert_eq!(store.users().get("u1").await.expect("answers"), Some(added));
    assert_eq!(store.users().get("U1").await.expect("answers"), None);
}

/// Each by itself.
pub async fn id_and_name_of_a_user_are_unique(store: &Store) {
    let first = store.user("u1").await;
    let same_id = User { username: "other".to_owned(), ..first.clone() };
    assert_eq!(store.users().add(&same_id).await.expect("answers"), UserAdded::IdExists);
    let same_name = User { id: "u2".to_owned(), ..first.clone() };
    assert_eq!(store.users().add(&same_name).await.expect("answers"), UserAdded::UsernameTaken);
    assert_eq!(store.users().list("", 9).await.expect("answers"), [first]);
    assert_eq!(store.users().delete("u1", TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(
        store.users().add(&same_name).await.expect("answers"),
        UserAdded::Added,
        "the name is free again"
    );
}

/// In byte order.
pub async fn users_are_listed_by_id_from_the_pivot(store: &Store) {
    for id in ["b", "anonymous", "B", "0ujtsYcgvSTl8PAuAdqWYSMnLOv"] {
        store.user(id).await;
    }
    let list = async |pivot: &str, limit| {
        let listed = store.users().list(pivot, limit).await.expect("answers");
        listed.into_iter().map(|user| user.id).collect::<Vec<_>>()
    };
    assert_eq!(list("", 9).await, ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "B", "anonymous", "b"]);
    assert_eq!(list("B", 1).await, ["B"]);
    assert_eq!(list("C", 9).await, ["anonymous", "b"]);
    assert!(list("c", 9).await.is_empty());
}

/// In one step; those of others stay.
pub async fn keys_and_bindings_go_with_their_user(store: &Store) {
    let (gone, stays) = (store.user("gone").await, store.user("stays").await);
    let name = store.namespace("orders").await;
    let role = store.role("r1", &name, &[Permission::QueueLease]).await;
    for (number, user) in [&gone, &stays, &gone].into_iter().enumerate() {
        let added = store.api_keys().add(&api_key(&format!("k{number}"), user)).await.expect("answers");
        assert_eq!(added, ApiKeyAdded::Added);
    }
    store.bind("b1", &gone, &role).await;
    store.bind("b2", &stays, &role).await;

    assert_eq!(store.users().delete("gone", TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(store.users().delete("gone", TIME).await.expect("answers"), Withdrawn::Missing);
    let keys = store.api_keys().list(None, "", 9).await.expect("answers");
    assert_eq!(keys.iter().map(|key| key.id.as_str()).collect::<Vec<_>>(), ["k1"]);
    assert!(store.api_keys().get_by_hash(&keys[0].hash).await.expect("answers").is_some());
    let bindings = store.role_bindings().list(&name, None, "", 9).await.expect("answers");
    assert_eq!(bindings.iter().map(|binding| binding.id.as_str()).collect::<Vec<_>>(), ["b2"]);

    let again = user("gone");
    assert_eq!(store.users().add(&again).await.expect("answers"), UserAdded::Added);
    let permissions = store.role_bindings().permissions_of("gone", &name, 9).await.expect("answers");
    assert_eq!(permissions, PermissionSet::EMPTY, "nothing comes back with the id");
}

/// Case, forms of Unicode, quotes and wildcards all count.
pub async fn hostile_usernames_do_not_meet(store: &Store) {
    let longest = "é".repeat(64);
    let names = || HOSTILE.into_iter().chain([longest.as_str(), " a", "a "]);
    for (number, name) in names().enumerate() {
        let named = User { username: name.to_owned(), ..user(&format!("u{number}")) };
        assert_eq!(store.users().add(&named).await.expect("answers"), UserAdded::Added, "{name:?}");
    }
    for (number, name) in names().enumerate() {
        let found = store.users().get(&format!("u{number}")).await.expect("answers").expect("is there");
        assert_eq!(found.username, name);
    }
}

/// Ids come from requests, and a store that cannot even ask must not fail.
pub async fn nul_is_found_nowhere(store: &Store) {
    let name = namespace("a");
    assert_eq!(store.users().get("a\0b").await.expect("answers"), None);
    assert_eq!(store.users().delete("a\0b", TIME).await.expect("answers"), Withdrawn::Missing);
    assert_eq!(store.api_keys().delete("a\0b", TIME).await.expect("answers"), Withdrawn::Missing);
    assert!(store.api_keys().list(Some("a\0b"), "a\0", 9).await.expect("answers").is_empty());
    assert_eq!(store.roles().get(&name, "x\0").await.expect("answers"), None);
    assert!(store.roles().list(&name, "\0", 9).await.expect("answers").is_empty());
    assert!(store.role_bindings().list(&name, Some("\0"), "", 9).await.expect("answers").is_empty());
    let unbound = store.role_bindings().delete(&name, "a\0b", "r", TIME).await;
    assert_eq!(unbound.expect("answers"), Withdrawn::Missing);
    let permissions = store.role_bindings().permissions_of("a\0b", &name, 9).await.expect("answers");
    assert_eq!(permissions, PermissionSet::EMPTY);
}
