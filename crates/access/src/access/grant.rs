//! Checks that a caller gives away only rights that it holds itself.
//!
//! A role has permissions, a binding gives a role to a user, and a key lets its bearer act for a user. All three are checked
//! here, so no sequence of them reaches further than its caller.

use leasehold_queue::DEFAULT_NAMESPACE;

use super::{Access, Driver, audit, or_default};
use crate::{Error, Permission, PermissionSet, Principal, Result};

/// Where rights count.
#[derive(Clone, Copy)]
enum Reach<'a> {
    /// In every namespace.
    Everywhere,
    /// In this one.
    Namespace(&'a str),
}

impl<'a> Reach<'a> {
    /// Of a role that is bound in the namespace.
    fn of(namespace: &'a str) -> Self {
        match or_default(namespace) {
            DEFAULT_NAMESPACE => Self::Everywhere,
            namespace => Self::Namespace(namespace),
        }
    }
}

impl Access {
    /// Passes if the actor holds all that a role with these permissions allows where it is bound in the namespace.
    pub(super) async fn permit_role(
        &self,
        actor: &Principal,
        action: Permission,
        namespace: &str,
        permissions: &[Permission],
        object: &str,
    ) -> Result<()> {
        if self.0.driver == Driver::None {
            return Ok(());
        }
        let granted = permissions.iter().collect();
        self.permit_rights(actor, action, Reach::of(namespace), granted, object).await
    }

    /// Passes if the actor holds all that the user may do by a key with this scope, none if it is empty.
    pub(super) async fn permit_api_key(&self, actor: &Principal, user_id: &str, scope: &str) -> Result<()> {
        if self.0.driver == Driver::None {
            return Ok(());
        }
        let action = Permission::ApiKeyCreate;
        // Read now: what is remembered may be less than what the key opens.
        let rights = self.role_bindings()?.rights_of(user_id).await?;
        for (namespace, permissions) in rights {
            let reach = match (Reach::of(namespace.as_str()), scope) {
                (reach, "") => reach,
                (Reach::Everywhere, scope) => Reach::Namespace(scope),
                (Reach::Namespace(namespace), scope) if namespace == scope => Reach::Namespace(scope),
                (Reach::Namespace(_), _) => continue,
            };
            self.permit_rights(actor, action, reach, permissions, user_id).await?;
        }
        Ok(())
    }

    async fn permit_rights(
        &self,
        actor: &Principal,
        action: Permission,
        reach: Reach<'_>,
        granted: PermissionSet,
        object: &str,
    ) -> Result<()> {
        if self.held(actor, reach).await?.contains_all(granted) {
            return Ok(());
        }
        audit::denied(actor, action, object);
        Err(Error::Denied)
    }

    async fn held(&self, principal: &Principal, reach: Reach<'_>) -> Result<PermissionSet> {
        let namespace = match reach {
            Reach::Everywhere => None,
            Reach::Namespace(namespace) => Some(namespace),
        };
        if principal.namespace_scope().is_some_and(|scope| namespace != Some(scope)) {
            return Ok(PermissionSet::EMPTY);
        }
        self.ready().await.map_err(Error::CheckFailed)?;
        let everywhere = self.permissions_now(principal, &leasehold_queue::Namespace::default()).await?;
        // A name that no namespace can have has no bindings.
        match namespace.and_then(|namespace| namespace.parse().ok()) {
            Some(namespace) => Ok(everywhere.union(self.permissions_now(principal, &namespace).await?)),
            None => Ok(everywhere),
        }
    }
}
