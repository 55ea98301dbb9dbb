//! Why something was not done, in the words that clients know.

use std::sync::Arc;

use leasehold_core::Class;

use crate::store::Cause;
use crate::{Refusal, StoreError};

/// The result of [`Access`](crate::Access).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A kind of record that a server may have no store for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name of each says it")]
pub enum Kind {
    Namespace,
    User,
    ApiKey,
    Role,
    RoleBinding,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::User => "user",
            Self::ApiKey => "api key",
            Self::Role => "role",
            Self::RoleBinding => "role binding",
        }
    }
}

/// Why a request was not carried out. The texts are those that clients know.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request cannot be right, or not as things are.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server was given no store for this.
    #[error("{} storage not configured", kind.as_str())]
    NotConfigured {
        /// What it would keep.
        kind: Kind,
    },
    /// The header is not of the one form that is understood.
    #[error("invalid authorization header format")]
    HeaderMalformed,
    /// What was sent is not a key, or it cannot be checked.
    #[error("api key is invalid")]
    ApiKeyInvalid,
    /// There is no such key.
    #[error("api key does not exist")]
    ApiKeyNotFound,
    /// Its time is over.
    #[error("api key has expired")]
    ApiKeyExpired,
    /// The user may not.
    #[error("access denied")]
    Denied,
    /// Whether the user may could not be found out.
    #[error("authorization check failed")]
    CheckFailed(#[source] Arc<StoreError>),
    /// There is no such namespace.
    #[error("namespace does not exist; '{name}' was not found")]
    NamespaceNotFound {
        /// The name that was asked for.
        name: String,
    },
    /// There is no such user.
    #[error("user does not exist; '{id}' was not found")]
    UserNotFound {
        /// The id that was asked for.
        id: String,
    },
    /// There is no such role.
    #[error("role does not exist; '{namespace}:{name}' was not found")]
    RoleNotFound {
        /// Where it was looked for.
        namespace: String,
        /// The name that was asked for.
        name: String,
    },
    /// There is no such binding.
    #[error("role binding does not exist; '{namespace}:{user_id}:{role_id}' was not found")]
    RoleBindingNotFound {
        /// Where it was looked for.
        namespace: String,
        /// Whose.
        user_id: String,
        /// To what.
        role_id: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// Whether a namespace is in use could not be found out; it was left alone.
    #[error("the queues of namespace '{name}' cannot be looked up")]
    NamespaceUse {
        /// The namespace.
        name: String,
        /// What was met.
        source: Cause,
    },
}

impl Error {
    /// A stable name, with an entry in `docs/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => "access.refused",
            Self::NotConfigured { .. } => "access.not_configured",
            Self::HeaderMalformed => "access.header_malformed",
            Self::ApiKeyInvalid => "access.api_key_invalid",
            Self::ApiKeyNotFound => "access.api_key_not_found",
            Self::ApiKeyExpired => "access.api_key_expired",
            Self::Denied => "access.denied",
            Self::CheckFailed(_) => "access.check_failed",
            Self::NamespaceNotFound { .. } => "access.namespace_not_found",
            Self::UserNotFound { .. } => "access.user_not_found",
            Self::RoleNotFound { .. } => "access.role_not_found",
            Self::RoleBindingNotFound { .. } => "access.role_binding_not_found",
            Self::Store(error) => error.code(),
            Self::NamespaceUse { .. } => "access.namespace_use",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::CheckFailed(_) | Self::NamespaceUse { .. } => Class::Unavailable,
            Self::Store(error) => error.class(),
            Self::Refused(_)
            | Self::NotConfigured { .. }
            | Self::HeaderMalformed
            | Self::ApiKeyInvalid
            | Self::ApiKeyNotFound
            | Self::ApiKeyExpired
            | Self::Denied
            | Self::NamespaceNotFound { .. }
            | Self::UserNotFound { .. }
            | Self::RoleNotFound { .. }
            | Self::RoleBindingNotFound { .. } => Class::Rejected,
        }
    }

    /// The code of the reply, which is the HTTP status too. Of a reply with code 500 the text is for the log only.
    #[must_use]
    pub fn reply_code(&self) -> u16 {
        match self {
            Self::Refused(_) => 400,
            Self::HeaderMalformed | Self::ApiKeyInvalid | Self::ApiKeyNotFound | Self::ApiKeyExpired => 401,
            Self::Denied => 403,
            Self::NotConfigured { .. }
            | Self::CheckFailed(_)
            | Self::NamespaceNotFound { .. }
            | Self::UserNotFound { .. }
            | Self::RoleNotFound { .. }
            | Self::RoleBindingNotFound { .. } => 453,
            Self::Store(_) | Self::NamespaceUse { .. } => 500,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
