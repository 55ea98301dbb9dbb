//! Whatever a caller without administration asks for, in whatever order: the rights that it can reach do not grow.

use std::collections::BTreeSet;

use leasehold_access::{ANONYMOUS, ApiKeyRequest, Permission, Principal};
use proptest::prelude::*;

use super::fixture::{Server, anyone, binding, namespace, role, server, user};

const NAMESPACES: [&str; 4] = ["_system", "orders", "billing", "later"];
const SCOPES: [&str; 5] = ["", "_system", "orders", "billing", "later"];
const ROLES: [&str; 7] = ["Admin", "NamespaceOwner", "PublicViewer", "manager", "worker", "one", "two"];

/// What a role is given.
fn permissions(choice: u8) -> Vec<Permission> {
    match choice % 8 {
        0 => Permission::ALL.into(),
        1 => vec![Permission::QueueLease],
        2 => vec![Permission::RoleCreate, Permission::RoleUpdate, Permission::RoleBindingCreate],
        3 => vec![Permission::ApiKeyCreate, Permission::UserCreate],
        _ => vec![Permission::ALL[usize::from(choice / 8) % Permission::ALL.len()]],
    }
}

/// Everything that manages rights, and one right more.
fn manager() -> Vec<Permission> {
    let is_managing = |permission: &Permission| {
        let noun = permission.as_str().split('.').next().unwrap_or_default();
        ["namespace", "user", "apikey", "role", "rolebinding"].contains(&noun)
    };
    let managing = Permission::ALL.into_iter().filter(is_managing);
    managing.chain([Permission::QueueLease]).collect()
}

/// Whom the caller can act as, and whom it knows of.
struct World {
    server: Server,
    actors: Vec<Principal>,
    users: Vec<String>,
}

impl World {
    async fn start(caller: u8) -> Self {
        let server = server();
        for name in ["orders", "billing"] {
            server.namespace(name).await;
        }
        for name in ["_system", "orders"] {
            server.role(name, "manager", &manager()).await;
        }
        server.role("orders", "worker", &Permission::ALL).await;
        server.role("billing", "worker", &[Permission::QueueClear]).await;
        let root = server.recover("root").await.expect("makes an administrator").user_id;
        let (tenant, biller) = (server.user("tenant").await, server.user("biller").await);
        server.bind("orders", "worker", &tenant).await;
        server.bind("billing", "worker", &biller).await;
        let id = server.user("caller").await;
        let scope = match caller % 5 {
            0 => {
                server.bind("_system", "NamespaceOwner", &id).await;
                None
            }
            1 => {
                server.role("_system", "issuer", &[Permission::ApiKeyCreate, Permission::UserCreate]).await;
                server.bind("_system", "issuer", &id).await;
                server.bind("orders", "manager", &id).await;
                None
            }
            scope => {
                server.bind("_system", "manager", &id).await;
                [None, Some("orders"), Some("_system")][usize::from(scope) - 2]
            }
        };
        let closing = binding("_system", "Admin", ANONYMOUS);
        server.delete_role_binding(&anyone(), &closing).await.expect("closes the door");
        let caller = Principal::user(id.clone(), scope.map(str::to_owned));
        let users = vec![id, root, tenant, biller, ANONYMOUS.to_owned()];
        World { server, actors: vec![caller, anyone()], users }
    }

    /// Whether it was done.
    async fn step(&mut self, [operation, actor, place, one, other, more]: [u8; 6]) -> bool {
        let pick = |choice: u8, len: usize| usize::from(choice) % len;
        let actor = self.actors[pick(actor, self.actors.len())].clone();
        let (space, name) = (NAMESPACES[pick(place, 4)], ROLES[pick(one, ROLES.len())]);
        let user_id = self.users[pick(other, self.users.len())].clone();
        let server = &self.server;
        match operation % 10 {
            0 => server.create_role(&actor, &role(space, name, &permissions(more))).await.is_ok(),
            1 | 2 => server.update_role(&actor, &role(space, name, &permissions(more))).await.is_ok(),
            3 | 4 => server.create_role_binding(&actor, &binding(space, name, &user_id)).await.is_ok(),
            5 => server.delete_role_binding(&actor, &binding(space, name, &user_id)).await.is_ok(),
            6 => {
                let created = server.create_user(&actor, &user(&format!("user {}", self.users.len()))).await;
                self.users.extend(created.as_ref().ok().cloned());
                created.is_ok()
            }
            7 => server.create_namespace(&actor, &namespace("later")).await.is_ok(),
            _ => {
                let scope = SCOPES[pick(place, SCOPES.len())];
                let request = ApiKeyRequest {
                    user_id: user_id.clone(),
                    namespace_scope: scope.to_owned(),
                    ..ApiKeyRequest::default()
                };
                let created = server.create_api_key(&actor, &request).await;
                if let Ok(created) = &created {
                    self.actors.push(server.sent(created).await.expect("the key is good"));
                }
                created.is_ok()
            }
        }
    }

    async fn reach(&self) -> BTreeSet<(&'static str, Permission)> {
        let mut reached = BTreeSet::new();
        for actor in &self.actors {
            for space in NAMESPACES {
                for permission in Permission::ALL {
                    if self.server.authorise(actor, space, permission).await.is_ok() {
                        reached.insert((space, permission));
                    }
                }
            }
        }
        reached
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn caller_without_administration_reaches_no_further(
        caller in any::<u8>(),
        steps in proptest::collection::vec(any::<[u8; 6]>(), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut world = World::start(caller).await;
            let before = world.reach().await;
            for step in steps {
                world.step(step).await;
            }
            let after = world.reach().await;
            let grown: Vec<_> = after.difference(&before).collect();
            prop_assert!(grown.is_empty(), "{grown:?}");
            Ok(())
        })?;
    }
}

/// The property would hold of a server that refuses everything.
#[tokio::test]
async fn caller_gives_away_what_it_has() {
    let mut world = World::start(2).await;
    let (manager, worker) = (permissions(1), 4);
    assert_eq!(manager, [Permission::QueueLease]);
    for (step, what) in [
        ([0, 0, 0, worker, 0, 1], "a role in _system"),
        ([6, 0, 0, 0, 0, 0], "a user"),
        ([3, 0, 0, worker, 5, 0], "a binding to it"),
        ([8, 0, 0, 0, 5, 0], "a key of it"),
        ([8, 0, 0, 0, 0, 0], "a key of its own"),
    ] {
        assert!(world.step(step).await, "{what}");
    }
    assert_eq!(world.actors.len(), 4);
}
