//! What the transaction layer reports, as an error of locks.

use leasehold_core::{LockCode, Transport};
use leasehold_txn::Error as TxnError;
use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;

use crate::{Error, Result};

/// The error of an operation. Only an unknown outcome leaves open whether something happened.
pub(in crate::backend) fn error_of(operation: &'static str, source: TxnError) -> Error {
    match lock_code(&source) {
        Some(lock_code) => Error::Store { operation, lock_code, source: source.into() },
        None => Error::Indeterminate { operation, source: source.into() },
    }
}

/// The SQLSTATE of a value that must be unique and is not.
const UNIQUE_VIOLATION: &str = "23505";

/// Whether a table refused a row because another one has what must be unique.
pub(in crate::backend) fn is_taken(error: &Error) -> bool {
    sqlstate(error) == Some(UNIQUE_VIOLATION)
}

/// What the server called the failure, if that is its own answer.
pub(super) fn sqlstate(error: &Error) -> Option<&str> {
    let Error::Store { source, .. } = error else { return None };
    source.downcast_ref::<TxnError>()?.sqlstate()
}

/// The code in SyncGuard's words; `None` when the outcome is unknown.
fn lock_code(error: &TxnError) -> Option<LockCode> {
    Some(match error {
        TxnError::UnknownOutcome { .. } => return None,
        TxnError::BadConfig { .. } | TxnError::IndexNotBuilt { .. } => LockCode::InvalidArgument,
        TxnError::CredentialsMissing { .. } | TxnError::AccessDenied { .. } => LockCode::AuthFailed,
        TxnError::TlsFailed { .. } | TxnError::ConnectFailed { .. } => answered(error, Transport::Io),
        TxnError::ConnectionLost { .. } => answered(error, Transport::Closed),
        TxnError::PoolClosed => LockCode::from_transport(Transport::Closed),
        TxnError::ConnectTimeout { .. } | TxnError::DeadlinePassed { .. } => {
            LockCode::from_transport(Transport::Timeout)
        }
        TxnError::PoolExhausted { .. } => LockCode::from_transport(Transport::PoolExhausted),
        // The rest is the server's own answer, and has its SQLSTATE.
        _ => error.sqlstate().map_or(LockCode::Internal, LockCode::from_sqlstate),
    })
}

/// The server's answer if it gave one, else what the transport met.
fn answered(error: &TxnError, transport: Transport) -> LockCode {
    error.sqlstate().map_or(LockCode::from_transport(transport), LockCode::from_sqlstate)
}

/// A column of a row of ours. Fails when the table has other types than SyncGuard's.
pub(in crate::backend) fn column<'a, T: FromSql<'a>>(
    operation: &'static str,
    row: &'a Row,
    name: &str,
) -> Result<T> {
    row.try_get(name).map_err(|error| unexpected(operation, error))
}

/// The one text that a function of ours returned; `None` if it had nothing to tell.
pub(super) fn told<'a>(operation: &'static str, rows: &'a [Row]) -> Result<Option<&'a str>> {
    let Some(row) = rows.first() else { return Ok(None) };
    row.try_get(0).map_err(|error| unexpected(operation, error))
}

/// A number within such a text.
pub(super) fn number(operation: &'static str, text: &str) -> Result<i64> {
    text.parse().map_err(|error| unexpected(operation, error))
}

/// The server answered what none of our statements can.
pub(super) fn unexpected(
    operation: &'static str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::Store { operation, lock_code: LockCode::Internal, source: source.into() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leasehold_core::Class;
    use leasehold_txn::Operation;

    use super::*;

    const OPERATION: Operation = Operation::new("test");

    #[test]
    fn errors_without_a_server_have_their_codes() {
        let timeout = Duration::from_secs(1);
        for (error, code) in [
            (TxnError::BadConfig { field: "port", reason: String::new() }, LockCode::InvalidArgument),
            (TxnError::CredentialsMissing { reason: String::new() }, LockCode::AuthFailed),
            (TxnError::ConnectTimeout { attempts: 1, timeout }, LockCode::NetworkTimeout),
            (TxnError::PoolExhausted { size_max: 1, wait_timeout: timeout }, LockCode::RateLimited),
            (TxnError::PoolClosed, LockCode::ServiceUnavailable),
            (TxnError::DeadlinePassed { operation: OPERATION }, LockCode::NetworkTimeout),
            (TxnError::ConnectionLost { operation: OPERATION, source: None }, LockCode::ServiceUnavailable),
        ] {
            let told = format!("{error:?}");
            let error = error_of("acquire", error);
            assert_eq!(error.lock_code(), code, "{told}");
            assert_ne!(error.class(), Class::Indeterminate, "{told}: nothing was sent");
        }
    }

    #[test]
    fn unknown_outcome_stays_unknown() {
        let error = error_of("release", TxnError::UnknownOutcome { operation: OPERATION, source: None });
        assert_eq!(error.class(), Class::Indeterminate);
        assert!(matches!(error, Error::Indeterminate { operation: "release", .. }), "{error:?}");
    }
}
