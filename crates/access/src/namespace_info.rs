//! The record of a namespace.

use leasehold_core::Timestamp;
use leasehold_queue::Namespace;

use crate::Tag;

/// A label on queues, roles and bindings: what is allowed is allowed in one of them, or in `_system` and so in all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceInfo {
    /// Its name.
    pub name: Namespace,
    /// What people say it is for.
    pub description: String,
    /// The tag of keys that are scoped to it and name none.
    pub api_key_tag: Option<Tag>,
    /// When it was made.
    pub created_at: Timestamp,
}
