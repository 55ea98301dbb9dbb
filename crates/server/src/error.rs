use std::io;
use std::path::PathBuf;

use leasehold_core::Class;

/// Why the server could not start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `--store` was given as empty text.
    #[error("store is empty; give a folder, memory: or a postgres:// url")]
    StoreEmpty,
    /// `memory:` takes nothing behind the colon.
    #[error("store memory: takes nothing after the colon")]
    StoreMemorySuffix,
    /// A URL whose scheme picks no store.
    #[error("store scheme {scheme} is not known; give a folder, memory: or a postgres:// url")]
    StoreScheme {
        /// The scheme alone: the rest of a URL may hold a password.
        scheme: String,
    },
    /// The configuration file cannot be read.
    #[error("configuration file {path} cannot be read", path = path.display())]
    ConfigUnreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The configuration file is longer than any of ours.
    #[error("configuration file {path} exceeds {limit} bytes", path = path.display())]
    ConfigTooLong {
        /// The file.
        path: PathBuf,
        /// Bytes it may have.
        limit: u64,
    },
    /// The configuration file is not YAML, or says what nobody knows.
    #[error("configuration file {path}: {reason}", path = path.display())]
    ConfigMalformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        reason: String,
    },
    /// The embedded store could not be used.
    #[error(transparent)]
    Embedded(#[from] leasehold_embedded::Error),
    /// The PostgreSQL store could not be used.
    #[error(transparent)]
    Postgres(#[from] leasehold_txn::Error),
    /// The lock backend could not be opened.
    #[error(transparent)]
    Locks(#[from] leasehold_locks::Error),
    /// The address is not `HOST:PORT`, or cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// As given.
        address: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Accepting connections failed for good.
    #[error("the server stopped accepting connections")]
    Accept(#[source] io::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable code; every one has its entry in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::StoreEmpty => "server.store_empty",
            Error::StoreMemorySuffix => "server.store_memory_suffix",
            Error::StoreScheme { .. } => "server.store_scheme",
            Error::ConfigUnreadable { .. } => "server.config_unreadable",
            Error::ConfigTooLong { .. } => "server.config_too_long",
            Error::ConfigMalformed { .. } => "server.config_malformed",
            Error::Embedded(inner) => inner.code(),
            Error::Postgres(inner) => inner.code(),
            Error::Locks(inner) => inner.code(),
            Error::Listen { .. } => "server.listen",
            Error::Accept(_) => "server.accept",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::StoreEmpty
            | Error::StoreMemorySuffix
            | Error::StoreScheme { .. }
            | Error::ConfigUnreadable { .. }
            | Error::ConfigTooLong { .. }
            | Error::ConfigMalformed { .. } => Class::Rejected,
            Error::Embedded(inner) => inner.class(),
            Error::Postgres(inner) => inner.class(),
            Error::Locks(inner) => inner.class(),
            Error::Listen { source, .. } if source.kind() == io::ErrorKind::InvalidInput => Class::Rejected,
            Error::Listen { .. } => Class::Unavailable,
            Error::Accept(_) => Class::Internal,
        }
    }
}
