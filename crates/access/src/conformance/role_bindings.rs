//! Bindings are kept by id, and give what their roles allow.

use super::{Store, TIME, binding, namespace, role, user};
use crate::store::{RoleBindingAdded, Withdrawn};
use crate::{Permission, PermissionSet, RoleBinding};

/// By what it binds.
pub async fn binding_is_listed_and_deleted(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    let bound = store.bind("b1", &user, &role).await;
    assert_eq!(store.role_bindings().list(&name, None, "", 9).await.expect("answers"), [bound]);
    for (space, user_id, role_id) in [("other", "u1", "r1"), ("orders", "u2", "r1"), ("orders", "u1", "r2")] {
        let deleted = store.role_bindings().delete(&namespace(space), user_id, role_id, TIME).await;
        assert_eq!(deleted.expect("answers"), Withdrawn::Missing, "{space} {user_id} {role_id}");
    }
    store.unbind(&name, "u1", "r1").await;
    let again = store.role_bindings().delete(&name, "u1", "r1", TIME).await;
    assert_eq!(again.expect("answers"), Withdrawn::Missing);
    assert!(store.role_bindings().list(&name, None, "", 9).await.expect("answers").is_empty());
}

/// Whatever the id of the second binding.
pub async fn user_has_a_role_once(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    let first = store.bind("b1", &user, &role).await;
    let again = RoleBinding { id: "b2".to_owned(), ..first };
    assert_eq!(store.role_bindings().add(&again).await.expect("answers"), RoleBindingAdded::Exists);
    store.unbind(&name, "u1", "r1").await;
    assert_eq!(store.role_bindings().add(&again).await.expect("answers"), RoleBindingAdded::Added);
}

/// Both must be there.
pub async fn binding_needs_role_and_user(store: &Store) {
    let name = store.namespace("orders").await;
    let (real_user, real_role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    let nobody = binding("b1", &user("nobody"), &real_role);
    assert_eq!(store.role_bindings().add(&nobody).await.expect("answers"), RoleBindingAdded::UserMissing);
    let nothing = binding("b1", &real_user, &role("nothing", &name, &[]));
    assert_eq!(store.role_bindings().add(&nothing).await.expect("answers"), RoleBindingAdded::RoleMissing);
    assert!(store.role_bindings().list(&name, None, "", 9).await.expect("answers").is_empty());
}

/// From the pivot on, by id.
pub async fn bindings_are_listed_by_namespace_and_user(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    let (first, second) = (store.user("u1").await, store.user("u2").await);
    let (in_one, in_other) = (store.role("r1", &one, &[]).await, store.role("r2", &other, &[]).await);
    store.bind("c", &first, &in_one).await;
    store.bind("a", &second, &in_one).await;
    store.bind("b", &first, &in_other).await;
    let list = async |user_id, pivot: &str, limit| {
        let listed = store.role_bindings().list(&one, user_id, pivot, limit).await.expect("answers");
        listed.into_iter().map(|binding| binding.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, "", 9).await, ["a", "c"]);
    assert_eq!(list(None, "b", 9).await, ["c"]);
    assert_eq!(list(None, "", 1).await, ["a"]);
    assert_eq!(list(Some("u1"), "", 1).await, ["c"], "filtered, then cut");
    assert!(list(Some("u3"), "", 9).await.is_empty());
}

/// Of this user in this namespace, and as the roles are now.
pub async fn permissions_are_those_of_bound_roles(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    let (user, stranger) = (store.user("u1").await, store.user("u2").await);
    let lease = store.role("r1", &one, &[Permission::QueueLease, Permission::QueueRetry]).await;
    let produce = store.role("r2", &one, &[Permission::QueueProduce, Permission::QueueRetry]).await;
    let clear = store.role("r3", &other, &[Permission::QueueClear]).await;
    let delete = store.role("r4", &one, &[Permission::QueueDelete]).await;
    store.bind("b1", &user, &lease).await;
    store.bind("b2", &user, &produce).await;
    store.bind("b3", &user, &clear).await;
    store.bind("b4", &stranger, &delete).await;
    let of_user = async || store.role_bindings().permissions_of("u1", &one, 100).await.expect("answers");
    let both = [Permission::QueueLease, Permission::QueueRetry, Permission::QueueProduce];
    assert_eq!(of_user().await, both.iter().collect());
    assert_eq!(store.roles().update("r1", &[], TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(of_user().await, [Permission::QueueRetry, Permission::QueueProduce].iter().collect());
    store.unbind(&one, "u1", "r2").await;
    assert_eq!(of_user().await, PermissionSet::EMPTY);
}

/// In whatever namespace, whatever the role allows.
pub async fn user_is_bound_while_any_binding_is_there(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    let (user, stranger) = (store.user("u1").await, store.user("u10").await);
    let roles =
        [store.role("r1", &one, &[]).await, store.role("r2", &other, &[Permission::QueueClear]).await];
    let bound = async |id: &str| store.role_bindings().is_bound(id).await.expect("answers");
    assert!(!bound("u1").await);
    store.bind("b1", &user, &roles[0]).await;
    store.bind("b2", &user, &roles[1]).await;
    assert!(bound("u1").await && !bound("u10").await && !bound("u").await && !bound("").await);
    assert_eq!(store.role_bindings().delete(&one, "u1", "r1", TIME).await.expect("answers"), Withdrawn::Done);
    assert!(bound("u1").await, "elsewhere");
    assert_eq!(
        store.role_bindings().delete(&other, "u1", "r2", TIME).await.expect("answers"),
        Withdrawn::Done
    );
    assert!(!bound("u1").await);
    store.bind("b3", &stranger, &roles[0]).await;
    assert!(!bound("u1").await && bound("u10").await);
    assert_eq!(store.users().delete("u10", TIME).await.expect("answers"), Withdrawn::Done);
    assert!(!bound("u10").await, "deleted with its user");
    assert!(!bound("a\0b").await);
}

/// Of all namespaces, and of no other user; a role without permissions is no right.
pub async fn rights_are_those_of_all_namespaces(store: &Store) {
    let (one, other) = (store.namespace("one").await, store.namespace("other").await);
    let empty = store.namespace("empty").await;
    let (user, stranger) = (store.user("u1").await, store.user("u2").await);
    let lease = store.role("r1", &one, &[Permission::QueueLease]).await;
    let retry = store.role("r2", &one, &[Permission::QueueRetry]).await;
    let clear = store.role("r3", &other, &[Permission::QueueClear]).await;
    let nothing = store.role("r4", &empty, &[]).await;
    for (id, role) in [("b1", &lease), ("b2", &retry), ("b3", &clear), ("b4", &nothing)] {
        store.bind(id, &user, role).await;
    }
    store.bind("b5", &stranger, &clear).await;
    let expected = [
        (one, [Permission::QueueLease, Permission::QueueRetry].iter().collect()),
        (other, [Permission::QueueClear].iter().collect()),
    ];
    assert_eq!(store.role_bindings().rights_of("u1").await.expect("answers"), expected.into());
    assert!(store.role_bindings().rights_of("u").await.expect("answers").is_empty());
    assert!(store.role_bindings().rights_of("u\0").await.expect("answers").is_empty());
}

/// Those with the first ids count.
pub async fn bindings_beyond_the_limit_do_not_count(store: &Store) {
    let name = store.namespace("orders").await;
    let user = store.user("u1").await;
    // The order of roles is not that of bindings.
    let permissions = [Permission::QueueLease, Permission::QueueRetry, Permission::QueueProduce];
    for ((permission, role_id), id) in permissions.into_iter().zip(["r3", "r2", "r1"]).zip(["b1", "b2", "b3"])
    {
        let role = store.role(role_id, &name, &[permission]).await;
        store.bind(id, &user, &role).await;
    }
    for limit in 0..=3 {
        let counted = store.role_bindings().permissions_of("u1", &name, limit).await.expect("answers");
        assert_eq!(counted, permissions[..limit].iter().collect(), "{limit}");
    }
}

/// Also when it was deleted since, and under another id.
pub async fn marked_binding_is_added_once_for_good(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    let once = async |mark: &str, id: &str| {
        store.role_bindings().add_once(mark, &binding(id, &user, &role)).await.expect("answers")
    };
    assert_eq!(once("mark", "b1").await, Some(RoleBindingAdded::Added));
    assert_eq!(once("mark", "b2").await, None);
    store.unbind(&name, "u1", "r1").await;
    assert_eq!(once("mark", "b3").await, None);
    assert!(store.role_bindings().list(&name, None, "", 9).await.expect("answers").is_empty());
    assert_eq!(once("other mark", "b4").await, Some(RoleBindingAdded::Added));
}

/// So that it can be done when what was missing is there.
pub async fn refused_binding_sets_no_mark(store: &Store) {
    let name = store.namespace("orders").await;
    let role = store.role("r1", &name, &[]).await;
    let binding = binding("b1", &user("u1"), &role);
    let once = async || store.role_bindings().add_once("mark", &binding).await.expect("answers");
    assert_eq!(once().await, Some(RoleBindingAdded::UserMissing));
    store.user("u1").await;
    assert_eq!(once().await, Some(RoleBindingAdded::Added));
}

/// Deleting it later is as final as if it had been added.
pub async fn binding_found_there_sets_the_mark(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    store.bind("b1", &user, &role).await;
    let once =
        async || store.role_bindings().add_once("mark", &binding("b2", &user, &role)).await.expect("answers");
    assert_eq!(once().await, Some(RoleBindingAdded::Exists));
    store.unbind(&name, "u1", "r1").await;
    assert_eq!(once().await, None);
}
