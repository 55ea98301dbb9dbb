//! Roles are kept by id and found by name.

use super::{HOSTILE, Store, TIME, namespace, role};
use crate::store::{Deleted, RoleAdded, Withdrawn};
use crate::{Permission, Role};

const SOME: [Permission; 3] = [Permission::QueueRetry, Permission::QueueLease, Permission::ApiKeyList];

/// Every field, and the permissions in their order.
pub async fn role_reads_back(store: &Store) {
    let name = store.namespace("orders").await;
    let bound = store.role("r1", &name, &SOME).await;
    assert_eq!(store.roles().get(&name, &bound.name).await.expect("answers"), Some(bound));
    let empty = store.role("r2", &name, &[]).await;
    assert_eq!(store.roles().get(&name, &empty.name).await.expect("answers"), Some(empty));
    let all = store.role("r3", &name, &Permission::ALL).await;
    assert_eq!(store.roles().get(&name, &all.name).await.expect("answers"), Some(all));
    assert_eq!(store.roles().get(&name, "other").await.expect("answers"), None);
}

/// And there only.
pub async fn name_of_a_role_is_unique_in_its_namespace(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    let first = store.role("r1", &one, &SOME).await;
    let same_name = Role { id: "r2".to_owned(), ..first.clone() };
    assert_eq!(store.roles().add(&same_name).await.expect("answers"), RoleAdded::Exists);
    let same_id = Role { name: "other".to_owned(), ..first.clone() };
    assert_eq!(store.roles().add(&same_id).await.expect("answers"), RoleAdded::Exists);
    let elsewhere = Role { namespace: other.clone(), ..same_name };
    assert_eq!(store.roles().add(&elsewhere).await.expect("answers"), RoleAdded::Added);
    assert_eq!(
        store.roles().get(&one, &first.name).await.expect("answers").map(|role| role.id),
        Some(first.id)
    );
    for (number, hostile) in HOSTILE.into_iter().enumerate() {
        let named = Role { name: hostile.to_owned(), ..role(&format!("h{number}"), &one, &[]) };
        assert_eq!(store.roles().add(&named).await.expect("answers"), RoleAdded::Added, "{hostile:?}");
        assert_eq!(store.roles().get(&one, hostile).await.expect("answers"), Some(named));
    }
}

/// A role in a namespace that is not there would wait for somebody to make it.
pub async fn role_needs_its_namespace(store: &Store) {
    let role = role("r1", &namespace("nowhere"), &SOME);
    assert_eq!(store.roles().add(&role).await.expect("answers"), RoleAdded::NamespaceMissing);
    assert_eq!(store.roles().get(&role.namespace, &role.name).await.expect("answers"), None);
}

/// By id.
pub async fn update_replaces_permissions_only(store: &Store) {
    let name = store.namespace("orders").await;
    let first = store.role("r1", &name, &SOME).await;
    let updated = store.roles().update("r1", &[Permission::QueueClear], TIME).await;
    assert_eq!(updated.expect("answers"), Withdrawn::Done);
    let found = store.roles().get(&name, &first.name).await.expect("answers");
    assert_eq!(found, Some(Role { permissions: vec![Permission::QueueClear], ..first }));
    assert_eq!(store.roles().update("r2", &SOME, TIME).await.expect("answers"), Withdrawn::Missing);
}

/// From the pivot on, by id.
pub async fn roles_are_listed_by_namespace(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    for (id, space) in [("c", &one), ("a", &one), ("b", &other), ("B", &one)] {
        store.role(id, space, &SOME).await;
    }
    let list = async |pivot: &str, limit| {
        let listed = store.roles().list(&one, pivot, limit).await.expect("answers");
        listed.into_iter().map(|role| role.id).collect::<Vec<_>>()
    };
    assert_eq!(list("", 9).await, ["B", "a", "c"]);
    assert_eq!(list("b", 9).await, ["c"]);
    assert_eq!(list("a", 1).await, ["a"]);
    assert!(store.roles().list(&namespace("nowhere"), "", 9).await.expect("answers").is_empty());
}

/// Or a binding would name nothing, and then whatever gets that id.
pub async fn bound_role_stays(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &SOME).await);
    store.bind("b1", &user, &role).await;
    assert_eq!(store.roles().delete("r1").await.expect("answers"), Deleted::InUse);
    assert_eq!(store.roles().get(&name, &role.name).await.expect("answers"), Some(role.clone()));
    store.unbind(&name, "u1", "r1").await;
    assert_eq!(store.roles().delete("r1").await.expect("answers"), Deleted::Deleted);
    assert_eq!(store.roles().delete("r1").await.expect("answers"), Deleted::Missing);
    assert_eq!(store.roles().add(&role).await.expect("answers"), RoleAdded::Added, "its name is free again");
}
