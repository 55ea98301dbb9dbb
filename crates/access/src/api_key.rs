//! The record of a key.

use leasehold_core::Timestamp;

use crate::ApiKeyHash;

/// What is kept of a key: everything but the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// A KSUID.
    pub id: String,
    /// Whose requests it makes.
    pub user_id: String,
    /// The one namespace it is good for, besides `_system`; all if there is none.
    pub namespace_scope: Option<String>,
    /// What people call it.
    pub name: String,
    /// The part of it that may be shown.
    pub prefix: String,
    /// By which it is found.
    pub hash: ApiKeyHash,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, about: written when it was not in memory any more.
    pub last_used_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl ApiKey {
    /// Whether it is refused at this time.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| now >= expires_at)
    }
}
