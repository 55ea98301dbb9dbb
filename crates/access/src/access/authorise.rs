//! May the one who makes the request do that?

use std::sync::Arc;

use leasehold_queue::{DEFAULT_NAMESPACE, Namespace};

use super::{Access, Driver, LOOKUP_TIMEOUT, audit, or_default};
use crate::{Error, Permission, PermissionSet, Principal, Result, StoreError};

/// Bindings of one user in one namespace that count; more are not looked at.
pub(super) const BINDINGS_MAX: usize = 100;

impl Access {
    /// Whether the principal may do this in the namespace; an empty name is `_system`. Says nothing about whether the
    /// namespace exists. Dropping the call does no harm.
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
        let everywhere = namespace == DEFAULT_NAMESPACE;
        if !everywhere && principal.namespace_scope().is_some_and(|scope| scope != namespace) {
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

    /// As [`audit_done`](Self::audit_done), of what somebody tried to do and may not.
    pub fn audit_denied(&self, actor: &Principal, action: Permission, object: &str) {
        audit::denied(actor, action, object);
    }

    async fn permissions(&self, principal: &Principal, namespace: Namespace) -> Result<PermissionSet> {
        let store = self.role_bindings().map_err(|missing| {
            let reason = missing.to_string();
            Error::CheckFailed(Arc::new(StoreError::Unusable { what: "access store", reason }))
        })?;
        let user_id = principal.user_id();
        let read = || {
            let (store, user_id, namespace) = (store.clone(), user_id.to_owned(), namespace.clone());
            async move {
                let reading = store.permissions_of(&user_id, &namespace, BINDINGS_MAX);
                let read = tokio::time::timeout(LOOKUP_TIMEOUT, reading).await.unwrap_or_else(|late| {
                    Err(StoreError::Unavailable { operation: "permissions_of", source: late.into() })
                });
                read.map_err(Arc::new)
            }
        };
        let key = (user_id.to_owned(), namespace.clone());
        let read = self.0.caches.permissions.get_or_read(key, self.0.clock.instant(), read).await;
        read.map_err(|error| {
            tracing::warn!(code = error.code(), %error, "permissions could not be looked up");
            Error::CheckFailed(error)
        })
    }
}
