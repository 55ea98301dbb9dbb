//! The record of a role, and the roles that are always there.

use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

use crate::Permission;

/// A set of permissions with a name, in a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// A KSUID.
    pub id: String,
    /// Where it can be bound.
    pub namespace: Namespace,
    /// Unique in the namespace.
    pub name: String,
    /// What it allows, in the order in which it was given.
    pub permissions: Vec<Permission>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The roles of `_system` that every start sets right. Nobody else may make or change a role of such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardRole {
    /// Everything.
    Admin,
    /// Queues, roles and bindings.
    NamespaceOwner,
    /// Health and metrics.
    PublicViewer,
}

impl StandardRole {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Admin, Self::NamespaceOwner, Self::PublicViewer];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "Admin",
            Self::NamespaceOwner => "NamespaceOwner",
            Self::PublicViewer => "PublicViewer",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// What it allows.
    #[must_use]
    pub fn permissions(self) -> Vec<Permission> {
        let nouns: &[&str] = match self {
            Self::Admin => return Permission::ALL.into(),
            Self::NamespaceOwner => &["queue", "role", "rolebinding", "system"],
            Self::PublicViewer => &["system"],
        };
        let noun = |permission: &Permission| permission.as_str().split('.').next().unwrap_or_default();
        Permission::ALL.into_iter().filter(|permission| nouns.contains(&noun(permission))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_roles_allow_what_they_are_known_for() {
        let count = |role: StandardRole| role.permissions().len();
        assert_eq!(StandardRole::ALL.map(count), [29, 10 + 4 + 3 + 2, 2]);
        let owner = StandardRole::NamespaceOwner.permissions();
        assert!(!owner.contains(&Permission::UserCreate) && owner.contains(&Permission::RoleBindingCreate));
    }

    #[test]
    fn standard_names_are_exact() {
        assert_eq!(StandardRole::named("Admin"), Some(StandardRole::Admin));
        for other in ["admin", "Admin ", "", "Owner"] {
            assert_eq!(StandardRole::named(other), None);
        }
    }
}
