//! May the one who makes the request do that?

use std::future::Future;
use std::sync::Arc;

use leasehold_queue::Namespace;

use super::{Access, Driver, LOOKUP_TIMEOUT, audit, or_default};
use crate::store::administration::BINDINGS_MAX;
use crate::store::{Result as StoreResult, RoleBindingStore};
use crate::{Error, Permission, PermissionSet, Principal, Result, StoreError};

impl Access {
    /// Whether the principal may do this in the namespace; an empty name is `_system`. A key that is scoped to a namespace
    /// acts nowhere else, `_system` included. Says nothing about whether the namespace exists. Dropping the call does no
    /// harm.
    ///
    /// # Errors
    /// [`Error::Denied`], or [`Error::CheckFailed`] if that could not be found out.
    pub async fn authorise(
        &self,
        principal: &Principal,
        namespace: &str,
        permission: Permission,
    ) -> Result<()> {
        if self.0.driver == Driver::None {
            return Ok(());
        }
        let namespace = or_default(namespace);
        if principal.namespace_scope().is_some_and(|scope| scope != namespace) {
            return Err(Error::Denied);
        }
        self.ready().await.map_err(Error::CheckFailed)?;
        // A name that no namespace can have has no bindings, and is not worth remembering.
        if let Ok(own) = namespace.parse()
            && self.permissions(principal, own).await?.contains(permission)
        {
            return Ok(());
        }
        match self.permissions(principal, Namespace::default()).await?.contains(permission) {
            true => Ok(()),
            false => Err(Error::Denied),
        }
    }

    /// Whether the principal may do anything at all: whether any role is bound to it, in whatever namespace. Dropping the
    /// call does no harm.
    ///
    /// # Errors
    /// [`Error::CheckFailed`] if that could not be found out.
    pub async fn is_bound(&self, principal: &Principal) -> Result<bool> {
        if self.0.driver == Driver::None {
            return Ok(true);
        }
        self.ready().await.map_err(Error::CheckFailed)?;
        let store = self.binding_store()?;
        let user_id = principal.user_id();
        let read = || {
            let (store, user_id) = (store.clone(), user_id.to_owned());
            async move { in_time("is_bound", store.is_bound(&user_id)).await }
        };
        let now = self.0.clock.instant();
        self.0.caches.bound.get_or_read(user_id.to_owned(), now, read).await.map_err(unchecked)
    }

    /// As [`authorise`](Self::authorise), for operations that are audited: leaves a trace of a refusal.
    pub(super) async fn permit(
        &self,
        principal: &Principal,
        namespace: &str,
        permission: Permission,
        object: &str,
    ) -> Result<()> {
        let permitted = self.authorise(principal, namespace, permission).await;
        if matches!(permitted, Err(Error::Denied)) {
            audit::denied(principal, permission, object);
        }
        permitted
    }

    /// Leaves a trace of what somebody did with something else than namespaces, users, keys, roles and bindings, whose
    /// changes leave their own.
    pub fn audit_done(&self, actor: &Principal, action: Permission, object: &str) {
        audit::done(actor, action, object);
    }

    /// As [`audit_done`](Self::audit_done), of a request that was refused before it was read.
    pub fn audit_unread(&self, actor: &Principal, path: &str) {
        audit::unread(actor, path);
    }

    /// As [`audit_done`](Self::audit_done), of what somebody tried to do and may not.
    pub fn audit_denied(&self, actor: &Principal, action: Permission, object: &str) {
        audit::denied(actor, action, object);
    }

    /// What the roles of the principal's user allow that are bound in the namespace itself.
    async fn permissions(&self, principal: &Principal, namespace: Namespace) -> Result<PermissionSet> {
        let store = self.binding_store()?;
        let user_id = principal.user_id();
        let read = || {
            let (store, user_id, namespace) = (store.clone(), user_id.to_owned(), namespace.clone());
            async move {
                in_time("permissions_of", store.permissions_of(&user_id, &namespace, BINDINGS_MAX)).await
            }
        };
        let key = (user_id.to_owned(), namespace.clone());
        self.0.caches.permissions.get_or_read(key, self.0.clock.instant(), read).await.map_err(unchecked)
    }

    /// The same as it is stored now. What is given away outlasts a cache, and so it is not read from one.
    pub(super) async fn permissions_now(
        &self,
        principal: &Principal,
        namespace: &Namespace,
    ) -> Result<PermissionSet> {
        let read = self.binding_store()?.permissions_of(principal.user_id(), namespace, BINDINGS_MAX);
        in_time("permissions_of", read).await.map_err(unchecked)
    }

    fn binding_store(&self) -> Result<&Arc<dyn RoleBindingStore>> {
        self.role_bindings().map_err(|missing| {
            let reason = missing.to_string();
            Error::CheckFailed(Arc::new(StoreError::Unusable { what: "access store", reason }))
        })
    }
}

async fn in_time<T>(
    operation: &'static str,
    reading: impl Future<Output = StoreResult<T>>,
) -> StoreResult<T, Arc<StoreError>> {
    let read = tokio::time::timeout(LOOKUP_TIMEOUT, reading).await;
    let read = read.unwrap_or_else(|late| Err(StoreError::Unavailable { operation, source: late.into() }));
    read.map_err(Arc::new)
}

fn unchecked(error: Arc<StoreError>) -> Error {
    tracing::warn!(code = error.code(), %error, "permissions could not be looked up");
    Error::CheckFailed(error)
}
