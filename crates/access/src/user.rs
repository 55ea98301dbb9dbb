//! The record of a user.

use leasehold_core::Timestamp;

/// The id and the name of the one who sends no key.
pub const ANONYMOUS: &str = "anonymous";

/// Somebody, or some program, that keys and bindings belong to. There are no passwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// A KSUID, or `anonymous`.
    pub id: String,
    /// Unique.
    pub username: String,
    /// The user's name elsewhere; may be empty.
    pub external_id: String,
    /// May be empty.
    pub email: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}
