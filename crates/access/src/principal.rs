//! Who makes a request.

use crate::user::ANONYMOUS;

/// Who makes a request, as far as it was proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    user_id: String,
    namespace_scope: Option<String>,
}

impl Principal {
    /// The one who proved nothing.
    #[must_use]
    pub fn anonymous() -> Self {
        Self { user_id: ANONYMOUS.to_owned(), namespace_scope: None }
    }

    /// A user, by a key that may be good for one namespace only.
    #[must_use]
    pub fn user(user_id: impl Into<String>, namespace_scope: Option<String>) -> Self {
        Self { user_id: user_id.into(), namespace_scope }
    }

    /// The user.
    #[must_use]
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// The namespace that the key is scoped to.
    #[must_use]
    pub fn namespace_scope(&self) -> Option<&str> {
        self.namespace_scope.as_deref()
    }
}
