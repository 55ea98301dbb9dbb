//! The record of a binding.

use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

/// Gives a user the permissions of a role, in the namespace of the role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleBinding {
    /// A KSUID.
    pub id: String,
    /// Where it counts; `_system` counts everywhere.
    pub namespace: Namespace,
    /// Who.
    pub user_id: String,
    /// What.
    pub role_id: String,
    /// When it was made.
    pub created_at: Timestamp,
}
