//! Who gives rights to others.

use super::Store;
use crate::{
    Access, ApiKeyRequest, Error, NamespaceRequest, Permission, Principal, RoleBindingRequest, RoleRequest,
    StandardRole, UserRequest,
};

const SYSTEM: &str = "_system";
const OWN: &str = "orders";

fn role(namespace: &str, name: &str, permissions: &[Permission]) -> RoleRequest {
    RoleRequest {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        permissions: permissions.iter().map(ToString::to_string).collect(),
    }
}

fn bind(namespace: &str, role_name: &str, user_id: &str) -> RoleBindingRequest {
    RoleBindingRequest {
        namespace: namespace.to_owned(),
        role_name: role_name.to_owned(),
        user_id: user_id.to_owned(),
    }
}

fn key(user_id: &str, scope: &str) -> ApiKeyRequest {
    ApiKeyRequest {
        user_id: user_id.to_owned(),
        namespace_scope: scope.to_owned(),
        ..ApiKeyRequest::default()
    }
}

/// A user with a role of its own.
async fn user(server: &Access, name: &str, namespace: &str, permissions: &[Permission]) -> Principal {
    let anyone = Principal::anonymous();
    let request = UserRequest { username: name.to_owned(), ..UserRequest::default() };
    let id = server.create_user(&anyone, &request).await.expect("creates");
    server.create_role(&anyone, &role(namespace, name, permissions)).await.expect("creates");
    server.create_role_binding(&anyone, &bind(namespace, name, &id)).await.expect("binds");
    Principal::user(id, None)
}

fn denied<T: std::fmt::Debug>(answer: Result<T, Error>, what: &str) {
    assert!(matches!(answer, Err(Error::Denied)), "{what}: {answer:?}");
}

/// Not by a role, a binding or a key, and not where a key is not good for.
pub async fn nobody_gives_a_right_that_it_does_not_hold(store: &Store) {
    use Permission::{ApiKeyCreate, QueueLease, QueueProduce, RoleBindingCreate, RoleCreate, RoleUpdate};
    let server = store.server().await;
    let anyone = Principal::anonymous();
    let named = NamespaceRequest { name: OWN.to_owned(), ..NamespaceRequest::default() };
    server.create_namespace(&anyone, &named).await.expect("creates");
    let permissions = StandardRole::NamespaceOwner.permissions();
    let owner = user(&server, "owner", SYSTEM, &permissions).await;
    let manage = [RoleCreate, RoleUpdate, RoleBindingCreate, QueueLease];
    let tenant = user(&server, "tenant", OWN, &manage).await;
    let issuer = user(&server, "issuer", SYSTEM, &[ApiKeyCreate, QueueLease]).await;

    // Roles.
    let update = async |who, request| server.update_role(&who, &request).await;
    let admin = role(SYSTEM, "mine", &Permission::ALL);
    denied(server.create_role(&owner, &admin).await, "a role beyond its creator");
    server.create_role(&owner, &role(SYSTEM, "mine", &[QueueLease])).await.expect("within its rights");
    denied(update(owner.clone(), admin).await, "a role that grows beyond its own");
    denied(server.create_role(&tenant, &role(OWN, "more", &[QueueProduce])).await, "not held here");
    denied(server.create_role(&tenant, &role(SYSTEM, "more", &[])).await, "another namespace");
    server.create_role(&tenant, &role(OWN, "less", &[QueueLease])).await.expect("within its rights");

    // Bindings.
    let itself = owner.user_id();
    let bound = server.create_role_binding(&owner, &bind(SYSTEM, "Admin", itself)).await;
    denied(bound, "more than it holds");
    server.create_role_binding(&owner, &bind(SYSTEM, "mine", itself)).await.expect("what it holds");
    server.create_role(&anyone, &role(OWN, "full", &[QueueLease, QueueProduce])).await.expect("creates");
    let bound = server.create_role_binding(&tenant, &bind(OWN, "full", tenant.user_id())).await;
    denied(bound, "more than it holds");
    let bound = server.create_role_binding(&tenant, &bind(OWN, "less", issuer.user_id())).await;
    bound.expect("what it holds");

    // Keys: of a user that holds less here, more there, and everything.
    let create_key = async |who: &Principal, of: &Principal, scope: &str| {
        server.create_api_key(who, &key(of.user_id(), scope)).await
    };
    let worker = user(&server, "worker", OWN, &[QueueLease]).await;
    create_key(&issuer, &worker, "").await.expect("it holds that everywhere");
    denied(create_key(&issuer, &tenant, "").await, "more than it holds in a namespace");
    denied(create_key(&issuer, &tenant, OWN).await, "more than it holds in a namespace");
    create_key(&issuer, &tenant, "elsewhere").await.expect("its user has no right there");
    denied(create_key(&issuer, &owner, "").await, "more than it holds everywhere");
    denied(create_key(&issuer, &owner, "elsewhere").await, "what counts everywhere counts there");
    create_key(&issuer, &issuer, "").await.expect("its own rights");

    // Keys that are good for one namespace.
    let scoped = |who: &Principal, scope: &str| Principal::user(who.user_id(), Some(scope.to_owned()));
    denied(create_key(&scoped(&issuer, OWN), &issuer, OWN).await, "it does not act on _system");
    denied(create_key(&scoped(&issuer, SYSTEM), &issuer, "").await, "beyond its scope");
    create_key(&scoped(&issuer, SYSTEM), &issuer, SYSTEM).await.expect("within its scope");
    let bound = server.create_role_binding(&scoped(&owner, SYSTEM), &bind(SYSTEM, "mine", "anonymous")).await;
    denied(bound, "what is bound in _system counts beyond its scope");
    let created = server.create_role(&scoped(&owner, OWN), &role(OWN, "other", &[QueueProduce])).await;
    created.expect("within its scope");
    denied(server.create_role(&scoped(&owner, OWN), &role(SYSTEM, "other", &[])).await, "beyond its scope");
}
