//! What every start of a server does, and what only the first one does.

use leasehold_queue::Namespace;

use super::{Store, TIME};
use crate::store::Withdrawn;
use crate::{ANONYMOUS, Access, Error, Page, Permission, Principal, RoleBindingRequest, StandardRole};

fn anyone() -> Principal {
    Principal::anonymous()
}

fn door() -> RoleBindingRequest {
    RoleBindingRequest {
        namespace: String::new(),
        role_name: StandardRole::Admin.name().to_owned(),
        user_id: ANONYMOUS.to_owned(),
    }
}

async fn is_open(server: &Access) -> bool {
    match server.authorise(&anyone(), "", Permission::UserCreate).await {
        Ok(()) => true,
        Err(Error::Denied) => false,
        Err(other) => panic!("{other}"),
    }
}

/// A release that knows better replaces what an older one wrote; bindings stay good.
pub async fn standard_roles_keep_their_ids_and_get_their_permissions_back(store: &Store) {
    store.server().await.bootstrap().await.expect("starts");
    let system = Namespace::default();
    let roles = async || {
        let mut listed = store.roles().list(&system, "", 9).await.expect("answers");
        listed.retain(|role| StandardRole::named(&role.name).is_some());
        listed
    };
    let anonymous = store.users().get(ANONYMOUS).await.expect("answers").expect("is there");
    let everything = store.role("everything", &system, &Permission::ALL).await;
    store.bind("binding", &anonymous, &everything).await;
    let before = roles().await;
    assert_eq!(before.len(), StandardRole::ALL.len());
    for role in &before {
        let updated = store.roles().update(&role.id, &[Permission::QueueLease], TIME).await;
        assert_eq!(updated.expect("answers"), Withdrawn::Done);
    }
    store.server().await.bootstrap().await.expect("starts again");
    assert_eq!(roles().await, before);
    for standard in StandardRole::ALL {
        let role = store.roles().get(&system, standard.name()).await.expect("answers").expect("is there");
        assert_eq!(role.permissions, standard.permissions());
    }
}

/// The operator who closed it finds it closed after every restart.
pub async fn door_opens_once_and_stays_closed(store: &Store) {
    let first = store.server().await;
    first.bootstrap().await.expect("starts");
    assert!(is_open(&first).await, "a fresh server can be set up");
    let second = store.server().await;
    second.bootstrap().await.expect("starts again");
    assert!(is_open(&second).await, "nobody closed it");
    let bindings = second.list_role_bindings(&anyone(), "", "", &Page::default()).await.expect("answers");
    assert_eq!(bindings.len(), 1, "{bindings:?}");

    second.recover("root").await.expect("makes an administrator");
    second.delete_role_binding(&anyone(), &door()).await.expect("closes");
    assert!(!is_open(&second).await);
    for _ in 0..2 {
        let later = store.server().await;
        later.bootstrap().await.expect("starts again");
        assert!(!is_open(&later).await, "it was closed for good");
    }
}

/// The user comes back, its rights do not.
pub async fn door_stays_closed_when_the_anonymous_user_was_deleted(store: &Store) {
    let first = store.server().await;
    first.bootstrap().await.expect("starts");
    first.recover("root").await.expect("makes an administrator");
    first.delete_user(&anyone(), ANONYMOUS).await.expect("deletes");
    assert!(!is_open(&first).await);
    let later = store.server().await;
    later.bootstrap().await.expect("starts again");
    assert!(store.users().get(ANONYMOUS).await.expect("answers").is_some());
    assert!(!is_open(&later).await);
}

/// Each finds what another made.
pub async fn servers_that_start_together_open_one_door(store: &Store) {
    let mut servers = Vec::new();
    for _ in 0..6 {
        let server = store.server().await;
        servers.push(tokio::spawn(async move { server.bootstrap().await.map(|()| server) }));
    }
    for server in servers {
        let server = server.await.expect("runs").expect("starts");
        assert!(is_open(&server).await);
    }
    let system = Namespace::default();
    assert_eq!(store.role_bindings().list(&system, None, "", 9).await.expect("answers").len(), 1);
    assert_eq!(store.roles().list(&system, "", 9).await.expect("answers").len(), StandardRole::ALL.len());
    assert_eq!(store.users().list("", 9).await.expect("answers").len(), 1);
}
