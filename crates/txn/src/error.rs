//! Everything that can go wrong around a transaction, told apart by what the caller may do next.

use std::time::Duration;

use leasehold_core::Class;

use crate::{DatabaseError, Operation};

/// A result whose error is this crate's, unless said otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a transaction, or the way to one, failed.
///
/// Only [`UnknownOutcome`](Self::UnknownOutcome) leaves open whether something was committed; every other variant
/// means that nothing was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting cannot be used.
    #[error("{field}: {reason}")]
    BadConfig {
        /// The setting.
        field: &'static str,
        /// What is wrong with it, and the limit if it has one. Never its value.
        reason: String,
    },
    /// No AWS credentials to sign a DSQL token with.
    #[error("no credentials for the cluster: {reason}")]
    CredentialsMissing {
        /// Where they were looked for.
        reason: String,
    },
    /// The server did not accept user, password, token or database.
    #[error("the server refused the user or the database")]
    AccessDenied {
        /// What the server said.
        source: DatabaseError,
    },
    /// The two sides could not agree on an encrypted connection.
    #[error("no trusted TLS connection")]
    TlsFailed {
        /// What the handshake said.
        source: DatabaseError,
    },
    /// The server could not be reached.
    #[error("no connection after {attempts} attempts")]
    ConnectFailed {
        /// How often it was tried.
        attempts: u32,
        /// What the last attempt met.
        source: DatabaseError,
    },
    /// The server accepted the connection, or not even that, and stayed silent.
    #[error("no connection after {attempts} attempts of {timeout:?}")]
    ConnectTimeout {
        /// How often it was tried.
        attempts: u32,
        /// How long each attempt waited.
        timeout: Duration,
    },
    /// The server takes no more connections now.
    #[error("the server has no room for another connection")]
    ConnectionLimit {
        /// What the server said.
        source: DatabaseError,
    },
    /// Every connection of the pool stayed in use.
    #[error("no connection of the pool ({size_max} at most) came free within {wait_timeout:?}")]
    PoolExhausted {
        /// The size of the pool.
        size_max: usize,
        /// How long the call waited.
        wait_timeout: Duration,
    },
    /// The pool was closed.
    #[error("the pool is closed")]
    PoolClosed,
    /// The deadline passed before anything could have been committed.
    #[error("deadline passed in {operation}, nothing was committed")]
    DeadlinePassed {
        /// What was being done.
        operation: Operation,
    },
    /// Every attempt lost to another transaction.
    #[error("{operation} lost to other transactions {attempts} times")]
    ConflictExhausted {
        /// What was being done.
        operation: Operation,
        /// How often it was tried.
        attempts: u32,
        /// What the last attempt met.
        source: DatabaseError,
    },
    /// The database does not know the feature a statement used (`0A000`).
    #[error("{operation} uses a feature the database does not have")]
    Unsupported {
        /// What was being done.
        operation: Operation,
        /// What the server said.
        source: DatabaseError,
    },
    /// The transaction is larger than the database allows.
    #[error("{operation} exceeds a limit of the database")]
    LimitExceeded {
        /// What was being done.
        operation: Operation,
        /// What the server said, with its limit.
        source: DatabaseError,
    },
    /// The connection broke before `COMMIT` was sent; the server rolls back.
    #[error("connection lost in {operation}, nothing was committed")]
    ConnectionLost {
        /// What was being done.
        operation: Operation,
        /// What was met, when it was more than an end of file.
        source: Option<DatabaseError>,
    },
    /// `COMMIT` was sent and its answer never came: the transaction may or may not have happened.
    #[error("outcome of {operation} is unknown")]
    UnknownOutcome {
        /// What was being done.
        operation: Operation,
        /// What was met in place of the answer; nothing when the deadline passed.
        source: Option<DatabaseError>,
    },
    /// The build of an index on DSQL failed twice.
    #[error("index {index} could not be built: {reason}")]
    IndexNotBuilt {
        /// The index. It stays invalid until it is made again.
        index: String,
        /// What its job says.
        reason: String,
    },
    /// The server refused for a reason of its own.
    #[error("the database refused {operation}")]
    Database {
        /// What was being done.
        operation: Operation,
        /// What it said.
        source: DatabaseError,
    },
}

impl Error {
    /// A stable name for clients to match on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadConfig { .. } => "txn.bad_config",
            Self::CredentialsMissing { .. } => "txn.credentials_missing",
            Self::AccessDenied { .. } => "txn.access_denied",
            Self::TlsFailed { .. } => "txn.tls_failed",
            Self::ConnectFailed { .. } => "txn.connect_failed",
            Self::ConnectTimeout { .. } => "txn.connect_timeout",
            Self::ConnectionLimit { .. } => "txn.connection_limit",
            Self::PoolExhausted { .. } => "txn.pool_exhausted",
            Self::PoolClosed => "txn.pool_closed",
            Self::DeadlinePassed { .. } => "txn.deadline_passed",
            Self::ConflictExhausted { .. } => "txn.conflict_exhausted",
            Self::Unsupported { .. } => "txn.unsupported",
            Self::LimitExceeded { .. } => "txn.limit_exceeded",
            Self::ConnectionLost { .. } => "txn.connection_lost",
            Self::UnknownOutcome { .. } => "txn.unknown_outcome",
            Self::IndexNotBuilt { .. } => "txn.index_not_built",
            Self::Database { .. } => "txn.database",
        }
    }

    /// What the caller may do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::BadConfig { .. }
            | Self::CredentialsMissing { .. }
            | Self::AccessDenied { .. }
            | Self::TlsFailed { .. }
            | Self::LimitExceeded { .. }
            | Self::IndexNotBuilt { .. } => Class::Rejected,
            Self::ConflictExhausted { .. } => Class::Conflict,
            Self::ConnectFailed { .. }
            | Self::ConnectTimeout { .. }
            | Self::ConnectionLimit { .. }
            | Self::PoolExhausted { .. }
            | Self::PoolClosed
            | Self::DeadlinePassed { .. }
            | Self::ConnectionLost { .. } => Class::Unavailable,
            Self::UnknownOutcome { .. } => Class::Indeterminate,
            Self::Unsupported { .. } => Class::Internal,
            Self::Database { source, .. } => source.sqlstate().map_or(Class::Internal, class_of_sqlstate),
        }
    }

    /// The SQLSTATE behind the error, when a server's answer caused it.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        self.database_error().and_then(DatabaseError::sqlstate)
    }

    /// The driver's side of the error, for code that maps a constraint or a code to an answer of its own.
    #[must_use]
    pub fn database_error(&self) -> Option<&DatabaseError> {
        match self {
            Self::AccessDenied { source }
            | Self::TlsFailed { source }
            | Self::ConnectFailed { source, .. }
            | Self::ConnectionLimit { source }
            | Self::ConflictExhausted { source, .. }
            | Self::Unsupported { source, .. }
            | Self::LimitExceeded { source, .. }
            | Self::Database { source, .. } => Some(source),
            Self::ConnectionLost { source, .. } | Self::UnknownOutcome { source, .. } => source.as_ref(),
            Self::BadConfig { .. }
            | Self::CredentialsMissing { .. }
            | Self::ConnectTimeout { .. }
            | Self::PoolExhausted { .. }
            | Self::PoolClosed
            | Self::DeadlinePassed { .. }
            | Self::IndexNotBuilt { .. } => None,
        }
    }
}

/// The class of an error that the server reported and that has no variant of its own.
fn class_of_sqlstate(sqlstate: &str) -> Class {
    match sqlstate {
        // Lost a race that this pool was not told to retry; `55P03` is a lock that was not free.
        "40001" | "40P01" | "55P03" => Class::Conflict,
        // A replica or a server in transition, a cancelled query, DSQL's transient fault.
        "25006" | "57014" | "XX000" => Class::Unavailable,
        // A right that the user lacks: for an operator to give, as at sign-in.
        "42501" => Class::Rejected,
        _ => match sqlstate.get(..2) {
            Some("53" | "57" | "58" | "08") => Class::Unavailable,
            Some("22" | "23") => Class::Rejected,
            _ => Class::Internal,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::class_of_sqlstate;
    use leasehold_core::Class;

    #[test]
    fn sqlstates_fall_into_classes() {
        for (sqlstate, class) in [
            ("40001", Class::Conflict),
            ("40P01", Class::Conflict),
            ("25006", Class::Unavailable),
            ("53100", Class::Unavailable),
            ("57P03", Class::Unavailable),
            ("XX000", Class::Unavailable),
            ("23505", Class::Rejected),
            ("22001", Class::Rejected),
            ("42501", Class::Rejected),
            ("42P01", Class::Internal),
            ("25P02", Class::Internal),
        ] {
            assert_eq!(class_of_sqlstate(sqlstate), class, "{sqlstate}");
        }
    }
}
