//! What a store can answer other than well.

use leasehold_core::Class;

/// The result of a store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What the library of a store said.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It did not happen, and may work later.
    #[error("{operation} failed in the store, nothing was changed")]
    Unavailable {
        /// What was asked.
        operation: &'static str,
        /// What the store's library said.
        source: Cause,
    },
    /// It may have happened.
    #[error("outcome of {operation} in the store is unknown")]
    Indeterminate {
        /// What was asked.
        operation: &'static str,
        /// What the store's library said.
        source: Cause,
    },
    /// What is stored does not make sense to this release.
    #[error("{what} cannot be used: {reason}")]
    Unusable {
        /// The table, file or record.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    /// A stable name, with an entry in `docs/errors.md`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "access.store_unavailable",
            Self::Indeterminate { .. } => "access.store_indeterminate",
            Self::Unusable { .. } => "access.store_unusable",
        }
    }

    /// What to do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::Unavailable { .. } => Class::Unavailable,
            Self::Indeterminate { .. } => Class::Indeterminate,
            Self::Unusable { .. } => Class::Internal,
        }
    }
}
