//! Two that want the same at the same time: one gets it, and nothing is left half done.

use std::future::Future;

use leasehold_queue::Namespace;

use super::{Store, TIME, api_key, binding, namespace_info, role, user};
use crate::store::{ApiKeyAdded, Deleted, RoleAdded, RoleBindingAdded, UserAdded, Withdrawn};
use crate::{ApiKey, NamespaceInfo, Role, RoleBinding, Stores, User};

/// Contenders of one race.
const CONTENDERS: usize = 8;
/// How often two are set against each other.
const RACES: usize = 12;

/// How many of the contenders won; each has a way of its own to the store.
async fn winners<F>(store: &Store, contend: impl Fn(Stores, usize) -> F) -> usize
where
    F: Future<Output = bool> + Send + 'static,
{
    let mut running = Vec::new();
    for number in 0..CONTENDERS {
        running.push(tokio::spawn(contend(store.harness.stores().await, number)));
    }
    let mut winners = 0;
    for contender in running {
        winners += usize::from(contender.await.expect("runs"));
    }
    winners
}

/// What it says is what is stored.
pub async fn one_namespace_of_a_name_wins(store: &Store) {
    let won = winners(store, |stores, number| async move {
        let info = NamespaceInfo { description: number.to_string(), ..namespace_info("orders") };
        stores.namespaces.expect("keeps them").add(&info).await.expect("answers")
    });
    assert_eq!(won.await, 1);
    assert_eq!(store.namespaces().list("", 9).await.expect("answers").len(), 1);
}

/// Whatever their ids.
pub async fn one_user_of_a_name_wins(store: &Store) {
    let won = winners(store, |stores, number| async move {
        let named = User { username: "ann".to_owned(), ..user(&format!("u{number}")) };
        match stores.users.expect("keeps them").add(&named).await.expect("answers") {
            UserAdded::Added => true,
            UserAdded::UsernameTaken => false,
            UserAdded::IdExists => panic!("ids differ"),
        }
    });
    assert_eq!(won.await, 1);
    assert_eq!(store.users().list("", 9).await.expect("answers").len(), 1);
}

/// Whatever their ids.
pub async fn one_key_of_a_hash_wins(store: &Store) {
    let of = store.user("u1").await;
    let key = api_key("k", &of);
    let won = winners(store, |stores, number| {
        let key = ApiKey { id: format!("k{number}"), ..key.clone() };
        async move {
            match stores.api_keys.expect("keeps them").add(&key).await.expect("answers") {
                ApiKeyAdded::Added => true,
                ApiKeyAdded::HashExists => false,
                other => panic!("{other:?}"),
            }
        }
    });
    assert_eq!(won.await, 1);
    assert_eq!(store.api_keys().list(None, "", 9).await.expect("answers").len(), 1);
}

/// Whatever their ids.
pub async fn one_role_of_a_name_wins(store: &Store) {
    let name = store.namespace("orders").await;
    let won = winners(store, |stores, number| {
        let role = Role { name: "worker".to_owned(), ..role(&format!("r{number}"), &name, &[]) };
        async move {
            match stores.roles.expect("keeps them").add(&role).await.expect("answers") {
                RoleAdded::Added => true,
                RoleAdded::Exists => false,
                RoleAdded::NamespaceMissing => panic!("it is there"),
            }
        }
    });
    assert_eq!(won.await, 1);
    assert_eq!(store.roles().list(&name, "", 9).await.expect("answers").len(), 1);
}

/// Whatever their ids, marked or not.
pub async fn one_binding_wins(store: &Store) {
    let name = store.namespace("orders").await;
    let (user, role) = (store.user("u1").await, store.role("r1", &name, &[]).await);
    let won = winners(store, |stores, number| {
        let binding = RoleBinding { id: format!("b{number}"), ..binding("b", &user, &role) };
        async move {
            let bindings = stores.role_bindings.expect("keeps them");
            let added = match number % 2 {
                0 => Some(bindings.add(&binding).await.expect("answers")),
                _ => bindings.add_once("mark", &binding).await.expect("answers"),
            };
            match added {
                Some(RoleBindingAdded::Added) => true,
                Some(RoleBindingAdded::Exists) | None => false,
                other => panic!("{other:?}"),
            }
        }
    });
    assert_eq!(won.await, 1);
    assert_eq!(store.role_bindings().list(&name, None, "", 9).await.expect("answers").len(), 1);
}

/// Runs both at the same time.
async fn race<A, B>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let (one, other) = (tokio::spawn(one), tokio::spawn(other));
    (one.await.expect("runs"), other.await.expect("runs"))
}

/// A namespace goes, or a role comes into it; not both.
pub async fn role_and_its_namespace_never_miss_each_other(store: &Store) {
    for number in 0..RACES {
        let name = store.namespace(&format!("n{number}")).await;
        let role = role(&format!("r{number}"), &name, &[]);
        let (adder, deleter) = (store.harness.stores().await, store.harness.stores().await);
        let gone = name.clone();
        let (added, deleted) = race(
            async move { adder.roles.expect("keeps them").add(&role).await.expect("answers") },
            async move { deleter.namespaces.expect("keeps them").delete(&gone).await.expect("answers") },
        )
        .await;
        match (added, deleted) {
            (RoleAdded::Added, Deleted::InUse) | (RoleAdded::NamespaceMissing, Deleted::Deleted) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// A role goes, or somebody gets it; not both.
pub async fn binding_and_its_role_never_miss_each_other(store: &Store) {
    let name: Namespace = store.namespace("orders").await;
    let user = store.user("u1").await;
    for number in 0..RACES {
        let role = store.role(&format!("r{number}"), &name, &[]).await;
        let binding = binding(&format!("b{number}"), &user, &role);
        let (adder, deleter) = (store.harness.stores().await, store.harness.stores().await);
        let (added, deleted) = race(
            async move { adder.role_bindings.expect("keeps them").add(&binding).await.expect("answers") },
            async move { deleter.roles.expect("keeps them").delete(&role.id).await.expect("answers") },
        )
        .await;
        match (added, deleted) {
            (RoleBindingAdded::Added, Deleted::InUse) | (RoleBindingAdded::RoleMissing, Deleted::Deleted) => {
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Whoever is first: no key outlives its user.
pub async fn key_and_its_user_never_miss_each_other(store: &Store) {
    for number in 0..RACES {
        let user = store.user(&format!("u{number}")).await;
        let key = api_key(&format!("k{number}"), &user);
        let (hash, gone) = (key.hash, user.id.clone());
        let (adder, deleter) = (store.harness.stores().await, store.harness.stores().await);
        let (added, deleted) = race(
            async move { adder.api_keys.expect("keeps them").add(&key).await.expect("answers") },
            async move { deleter.users.expect("keeps them").delete(&gone, TIME).await.expect("answers") },
        )
        .await;
        assert!(
            deleted == Withdrawn::Done && matches!(added, ApiKeyAdded::Added | ApiKeyAdded::UserMissing),
            "{added:?}"
        );
        assert_eq!(
            store.api_keys().get_by_hash(&hash).await.expect("answers"),
            None,
            "it went with its user"
        );
    }
}
