//! What a role can allow.

use std::fmt;
use std::str::FromStr;

use crate::Refusal;

macro_rules! permissions {
    ($($variant:ident = $text:literal,)+) => {
        /// Something that may be allowed. The set is closed, and there are no wildcards: what a role allows can be read
        /// off its record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the text of each says it")]
        pub enum Permission { $($variant,)+ }

        impl Permission {
            /// All of them.
            pub const ALL: [Self; 31] = [$(Self::$variant,)+];

            /// The text form, such as `queue.produce`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

permissions! {
    NamespaceCreate = "namespace.create",
    NamespaceDelete = "namespace.delete",
    NamespaceList = "namespace.list",
    NamespaceUpdate = "namespace.update",
    QueueCreate = "queue.create",
    QueueDelete = "queue.delete",
    QueueUpdate = "queue.update",
    QueueList = "queue.list",
    QueueProduce = "queue.produce",
    QueueLease = "queue.lease",
    QueueComplete = "queue.complete",
    QueueRetry = "queue.retry",
    QueueStats = "queue.stats",
    QueueClear = "queue.clear",
    UserCreate = "user.create",
    UserDelete = "user.delete",
    UserList = "user.list",
    ApiKeyCreate = "apikey.create",
    ApiKeyDelete = "apikey.delete",
    ApiKeyList = "apikey.list",
    RoleCreate = "role.create",
    RoleUpdate = "role.update",
    RoleDelete = "role.delete",
    RoleList = "role.list",
    RoleBindingCreate = "rolebinding.create",
    RoleBindingDelete = "rolebinding.delete",
    RoleBindingList = "rolebinding.list",
    SystemHealth = "system.health",
    SystemMetrics = "system.metrics",
    LockHold = "lock.hold",
    LockRead = "lock.read",
}

impl FromStr for Permission {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let known = Self::ALL.into_iter().find(|permission| permission.as_str() == text);
        known.ok_or_else(|| Refusal::PermissionUnknown { permission: text.to_owned() })
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Some permissions, in no order.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct PermissionSet(u32);

impl PermissionSet {
    /// None.
    pub const EMPTY: Self = Self(0);

    /// Whether it is one of them.
    #[must_use]
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u32) != 0
    }

    /// Whether all of the others are among them.
    #[must_use]
    pub const fn contains_all(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }

    /// Those that are in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<'a> FromIterator<&'a Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = &'a Permission>>(permissions: I) -> Self {
        permissions.into_iter().fold(Self::EMPTY, |set, permission| Self(set.0 | 1 << *permission as u32))
    }
}

impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = Permission::ALL.into_iter().filter(|permission| self.contains(*permission));
        f.debug_set().entries(held.map(Permission::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_reads_back() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(permission));
        }
    }

    #[test]
    fn wildcards_and_other_cases_are_no_permissions() {
        for text in ["", "*", "queue.*", "queue", "Queue.produce", "queue.produce ", "queue.pause"] {
            let refused = text.parse::<Permission>().expect_err(text).to_string();
            assert_eq!(refused, format!("permission is invalid; '{text}' is not a recognized permission"));
        }
    }

    #[test]
    fn set_holds_exactly_what_was_put_in() {
        for held in Permission::ALL {
            let set: PermissionSet = [held].iter().collect();
            for asked in Permission::ALL {
                assert_eq!(set.contains(asked), asked == held, "{asked} in {set:?}");
            }
        }
        let all: PermissionSet = Permission::ALL.iter().collect();
        assert_eq!(all.union(PermissionSet::EMPTY), all);
    }
}
