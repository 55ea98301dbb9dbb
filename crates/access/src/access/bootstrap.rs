//! What a server needs to find before it can judge anybody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use leasehold_queue::Namespace;
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;

use super::{Access, Driver};
use crate::store::administration::BINDINGS_MAX;
use crate::store::{Change, Result as StoreResult, RoleAdded, RoleBindingAdded, StoreError, UserAdded};
use crate::{ANONYMOUS, Error, NamespaceInfo, Permission, Result, Role, RoleBinding, StandardRole, User};

/// Under which the open door is remembered for good.
const OPEN_DOOR: &str = "open-door";

/// Whether it was done, and how it failed last.
#[derive(Default)]
pub(super) struct Bootstrap {
    done: AtomicBool,
    turn: Mutex<Option<(Instant, Arc<StoreError>)>>,
}

impl Access {
    /// Prepares the stores: the namespace `_system`; and if requests are judged, the user `anonymous`, the standard
    /// roles with the permissions of this release, and, once in the life of a store, a binding that lets anonymous
    /// requests do everything. So a fresh server can be set up; deleting that binding closes the door for good.
    ///
    /// Every operation does this by itself if it has not been done: a store that is down when a server starts only
    /// delays it. Repeating it does no harm, nor does dropping it.
    ///
    /// # Errors
    /// What the store said.
    pub async fn bootstrap(&self) -> Result<()> {
        self.ready().await.map_err(Error::Store)
    }

    /// Passes when the stores are prepared. Those who wait for the same attempt share its failure, so that no line
    /// forms in front of a store that is down.
    pub(super) async fn ready(&self) -> Result<(), Arc<StoreError>> {
        let bootstrap = &self.0.bootstrap;
        if bootstrap.done.load(Ordering::Acquire) {
            return Ok(());
        }
        let asked_at = self.0.clock.instant();
        let mut failure = bootstrap.turn.lock().await;
        if bootstrap.done.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Some((failed_at, error)) = &*failure
            && *failed_at > asked_at
        {
            return Err(error.clone());
        }
        match self.prepare().await.map_err(Arc::new) {
            Ok(()) => {
                self.hear();
                bootstrap.done.store(true, Ordering::Release);
                Ok(())
            }
            Err(error) => {
                *failure = Some((self.0.clock.instant(), error.clone()));
                Err(error)
            }
        }
    }

    async fn prepare(&self) -> StoreResult<()> {
        match self.prepare_records().await? {
            Some(admin_id) => self.open_door(admin_id).await,
            None => Ok(()),
        }
    }

    /// Everything but the open door; the id of the role `Admin` where requests are judged by roles.
    pub(super) async fn prepare_records(&self) -> StoreResult<Option<String>> {
        let created_at = self.0.clock.now();
        if let Some(namespaces) = &self.0.stores.namespaces {
            let system = NamespaceInfo {
                name: Namespace::default(),
                description: "System namespace".to_owned(),
                api_key_tag: None,
                created_at,
            };
            namespaces.add(&system).await?;
        }
        if self.0.driver == Driver::None {
            return Ok(None);
        }
        if let Some(users) = &self.0.stores.users {
            let anonymous = User {
                id: ANONYMOUS.to_owned(),
                username: ANONYMOUS.to_owned(),
                external_id: String::new(),
                email: String::new(),
                created_at,
                updated_at: created_at,
            };
            if users.add(&anonymous).await? == UserAdded::UsernameTaken {
                return Err(unusable(format!("another user has the name '{ANONYMOUS}'")));
            }
        }
        if self.0.stores.roles.is_none() {
            return Ok(None);
        }
        let [admin, ..] = StandardRole::ALL;
        let admin_id = self.standard_role(admin).await?;
        for role in StandardRole::ALL.into_iter().skip(1) {
            self.standard_role(role).await?;
        }
        Ok(Some(admin_id))
    }

    /// Makes the role, or sets its permissions right; its id.
    async fn standard_role(&self, standard: StandardRole) -> StoreResult<String> {
        let roles = self.0.stores.roles.as_ref().expect("only called with a store of roles");
        let (namespace, permissions) = (Namespace::default(), standard.permissions());
        if let Some(found) = roles.get(&namespace, standard.name()).await? {
            if found.permissions != permissions {
                roles.update(&found.id, &permissions, self.0.clock.now()).await?;
            }
            return Ok(found.id);
        }
        let role = Role {
            id: self.id(),
            namespace: namespace.clone(),
            name: standard.name().to_owned(),
            permissions,
            created_at: self.0.clock.now(),
        };
        match roles.add(&role).await? {
            RoleAdded::Added => Ok(role.id),
            // Another server was faster; it set the same permissions, or will at its next start.
            RoleAdded::Exists => match roles.get(&namespace, standard.name()).await? {
                Some(found) => Ok(found.id),
                None => Err(unusable(format!("standard role '{}' comes and goes", standard.name()))),
            },
            RoleAdded::NamespaceMissing => Err(unusable(format!("namespace '{namespace}' is missing"))),
        }
    }

    async fn open_door(&self, admin_id: String) -> StoreResult<()> {
        let Some(bindings) = &self.0.stores.role_bindings else { return Ok(()) };
        let namespace = Namespace::default();
        let binding = RoleBinding {
            id: self.id(),
            namespace: namespace.clone(),
            user_id: ANONYMOUS.to_owned(),
            role_id: admin_id,
            created_at: self.0.clock.now(),
        };
        let missing = match bindings.add_once(OPEN_DOOR, &binding).await? {
            None | Some(RoleBindingAdded::Added | RoleBindingAdded::Exists) => None,
            Some(RoleBindingAdded::RoleMissing) => Some("role 'Admin'"),
            Some(RoleBindingAdded::UserMissing) => Some("user 'anonymous'"),
        };
        if let Some(missing) = missing {
            return Err(unusable(format!("{missing} is missing")));
        }
        let open = bindings.permissions_of(ANONYMOUS, &namespace, BINDINGS_MAX).await?;
        if open.contains(Permission::UserCreate) {
            tracing::warn!(
                "the door is open: requests without a key may do everything; create a user with a key, then delete \
                 the role binding of user 'anonymous'"
            );
        }
        Ok(())
    }

    /// Listens to what others change, from now on. Where nobody is judged nothing is remembered.
    fn hear(&self) {
        let Some(changes) = self.0.stores.changes.as_ref().filter(|_| self.0.driver != Driver::None) else {
            return;
        };
        self.0.hearing.get_or_init(|| {
            let (changes, caches) = (changes.clone(), self.0.caches.clone());
            let told = move |change: Change| caches.forget(&change);
            AbortOnDropHandle::new(tokio::spawn(async move { changes.run(&told).await }))
        });
    }
}

fn unusable(reason: String) -> StoreError {
    StoreError::Unusable { what: "access store", reason }
}
