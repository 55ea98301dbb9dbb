//! What takes the last way to administer away is refused in the step that would do it.

use std::time::Duration;

use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

use super::{Store, TIME, api_key};
use crate::store::Withdrawn;
use crate::{ANONYMOUS, ApiKey, Error, Permission, Principal, Role, Stores, User};

/// A user with every right, by role `admin`, and keys that end then.
async fn administrator(store: &Store, id: &str, admin: &Role, expiries: &[Option<Timestamp>]) -> User {
    let user = store.user(id).await;
    store.bind(&format!("binding of {id}"), &user, admin).await;
    for (number, expires_at) in expiries.iter().enumerate() {
        let key = api_key(&format!("key {number} of {id}"), &user);
        add_key(store, ApiKey { namespace_scope: None, expires_at: *expires_at, ..key }).await;
    }
    user
}

async fn add_key(store: &Store, key: ApiKey) {
    assert_eq!(store.api_keys().add(&key).await.expect("answers"), crate::store::ApiKeyAdded::Added);
}

async fn system(store: &Store) -> (Namespace, Role) {
    let system = store.namespace("_system").await;
    let admin = store.role("admin", &system, &Permission::ALL).await;
    (system, admin)
}

/// Every write that would take the rights of the user with this id, or its keys, away.
async fn withdraw_all(store: &Store, id: &str, now: Timestamp) -> [Withdrawn; 4] {
    let system = Namespace::default();
    [
        store.roles().update("admin", &Permission::ALL[1..], now).await.expect("answers"),
        store.role_bindings().delete(&system, id, "admin", now).await.expect("answers"),
        store.api_keys().delete(&format!("key 0 of {id}"), now).await.expect("answers"),
        store.users().delete(id, now).await.expect("answers"),
    ]
}

/// By binding, role, key or user; nothing is changed.
pub async fn last_administrator_stays(store: &Store) {
    let (system, admin) = system(store).await;
    let ann = administrator(store, "ann", &admin, &[None]).await;
    assert_eq!(withdraw_all(store, "ann", TIME).await, [Withdrawn::LastAdministrator; 4]);
    assert_eq!(store.users().list("", 9).await.expect("answers"), [ann]);
    assert_eq!(store.roles().list(&system, "", 9).await.expect("answers"), [admin]);
    assert_eq!(store.role_bindings().list(&system, None, "", 9).await.expect("answers").len(), 1);
    assert_eq!(store.api_keys().list(None, "", 9).await.expect("answers").len(), 1);
    // What takes none of its rights away is done.
    let updated = store.roles().update("admin", &Permission::ALL, TIME).await;
    assert_eq!(updated.expect("answers"), Withdrawn::Done);
}

/// And the one that is left is the last.
pub async fn administrator_beside_the_last_one_goes(store: &Store) {
    let (_, admin) = system(store).await;
    administrator(store, "ann", &admin, &[None, None]).await;
    administrator(store, "bob", &admin, &[None]).await;
    let delete_key = async |id: &str| store.api_keys().delete(id, TIME).await.expect("answers");
    assert_eq!(delete_key("key 1 of ann").await, Withdrawn::Done, "another key of hers is left");
    assert_eq!(delete_key("key 0 of ann").await, Withdrawn::Done, "a key of his is left");
    assert_eq!(delete_key("key 0 of bob").await, Withdrawn::LastAdministrator);
    assert_eq!(store.users().delete("ann", TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(withdraw_all(store, "bob", TIME).await, [Withdrawn::LastAdministrator; 4]);
    // Requests without a key are one more way.
    let anonymous = User { id: ANONYMOUS.to_owned(), ..super::user("anyone") };
    store.users().add(&anonymous).await.expect("answers");
    store.bind("door", &anonymous, &admin).await;
    assert_eq!(store.users().delete("bob", TIME).await.expect("answers"), Withdrawn::Done);
    assert_eq!(store.users().delete(ANONYMOUS, TIME).await.expect("answers"), Withdrawn::LastAdministrator);
}

/// Nor a role in another namespace.
pub async fn key_that_is_scoped_or_expired_administers_nothing(store: &Store) {
    let (_, admin) = system(store).await;
    administrator(store, "ann", &admin, &[None]).await;
    let bob = administrator(store, "bob", &admin, &[Some(TIME)]).await;
    add_key(store, ApiKey { expires_at: None, ..api_key("scoped", &bob) }).await;
    let (elsewhere, cid) = (store.namespace("elsewhere").await, store.user("cid").await);
    let local = store.role("local", &elsewhere, &Permission::ALL).await;
    store.bind("local", &cid, &local).await;
    add_key(store, ApiKey { namespace_scope: None, expires_at: None, ..api_key("of cid", &cid) }).await;
    assert_eq!(withdraw_all(store, "ann", TIME).await, [Withdrawn::LastAdministrator; 4]);
}

/// As long as it is good.
pub async fn last_key_stays_until_it_expires(store: &Store) {
    let (_, admin) = system(store).await;
    let ends = TIME.saturating_add(Duration::from_secs(3600));
    administrator(store, "ann", &admin, &[Some(ends), Some(TIME)]).await;
    let delete_key = async |id: &str, now| store.api_keys().delete(id, now).await.expect("answers");
    assert_eq!(delete_key("key 0 of ann", TIME).await, Withdrawn::LastAdministrator);
    assert_eq!(delete_key("key 1 of ann", TIME).await, Withdrawn::Done, "it has expired");
    assert_eq!(delete_key("key 0 of ann", ends).await, Withdrawn::Done, "so has this");
}

/// Whatever each of them takes from the other.
pub async fn administrators_who_remove_each_other_leave_one(store: &Store) {
    const RACES: usize = 6;
    let (system, admin) = system(store).await;
    // An administrator left over from an earlier race would be one more way.
    for number in 0..RACES {
        let (one, other) = (format!("one{number}"), format!("other{number}"));
        for id in [&one, &other] {
            administrator(store, id, &admin, &[None]).await;
        }
        for old in 0..number {
            for id in [format!("one{old}"), format!("other{old}")] {
                store.users().delete(&id, TIME).await.expect("answers");
            }
        }
        let unbind = |stores: Stores, id: String| {
            let system = system.clone();
            async move {
                let bindings = stores.role_bindings.expect("keeps them");
                bindings.delete(&system, &id, "admin", TIME).await.expect("answers")
            }
        };
        let delete = |stores: Stores, id: String| async move {
            let key = format!("key 0 of {id}");
            match number % 2 {
                0 => stores.users.expect("keeps them").delete(&id, TIME).await.expect("answers"),
                _ => stores.api_keys.expect("keeps them").delete(&key, TIME).await.expect("answers"),
            }
        };
        let unbinding = tokio::spawn(unbind(store.harness.stores().await, one));
        let deleting = tokio::spawn(delete(store.harness.stores().await, other));
        let mut ended = [unbinding.await.expect("runs"), deleting.await.expect("runs")];
        ended.sort_unstable_by_key(|withdrawn| *withdrawn == Withdrawn::LastAdministrator);
        assert_eq!(ended, [Withdrawn::Done, Withdrawn::LastAdministrator]);
    }
}

/// From outside, however it was lost; the door stays shut.
pub async fn lost_administration_is_recovered(store: &Store) {
    let server = store.server().await;
    for username in ["root", "root", "other"] {
        let recovered = server.recover(username).await.expect("recovers");
        let found = store.users().get(&recovered.user_id).await.expect("answers").expect("is there");
        assert_eq!(found.username, username);
        let header = format!("Bearer {}", recovered.key.key.expose());
        let root = server.authenticate(Some(header.as_bytes())).await.expect("the key is known");
        for permission in Permission::ALL {
            server.authorise(&root, "", permission).await.expect("may do everything");
        }
    }
    assert_eq!(store.users().list("", 9).await.expect("answers").len(), 3, "two and the anonymous one");
    assert_eq!(server.recover(ANONYMOUS).await.expect_err("is everybody").reply_code(), 400);
    assert_eq!(server.recover("").await.expect_err("is no name").reply_code(), 400);

    let fresh = store.server().await;
    let before = fresh.authorise(&Principal::anonymous(), "", Permission::UserCreate).await;
    before.expect("a store that was never started opens its door once");
    let door = crate::RoleBindingRequest {
        namespace: String::new(),
        role_name: "Admin".to_owned(),
        user_id: ANONYMOUS.to_owned(),
    };
    fresh.delete_role_binding(&Principal::anonymous(), &door).await.expect("others administer");
    fresh.recover("root").await.expect("recovers");
    let after = fresh.authorise(&Principal::anonymous(), "", Permission::UserCreate).await;
    assert!(matches!(after, Err(Error::Denied)), "{after:?}");
}
