//! What the transaction layer reports, as an error of the store.

use leasehold_txn::tokio_postgres::Row;
use leasehold_txn::tokio_postgres::types::FromSql;
use leasehold_txn::{Error as TxnError, Operation};

use crate::store::{PartitionId, Result, StoreError};

/// The SQLSTATE of a table that is not there.
pub(in crate::store) const UNDEFINED_TABLE: &str = "42P01";
/// The SQLSTATE of a column that is not there.
const UNDEFINED_COLUMN: &str = "42703";

/// The error of an operation on an opened partition: a table that was there and is not was dropped, and its owner with
/// it.
pub(in crate::store) fn partition_error(
    operation: Operation,
    partition: &PartitionId,
    source: TxnError,
) -> StoreError {
    match source.sqlstate() {
        Some(UNDEFINED_TABLE) => StoreError::Fenced { partition: partition.clone() },
        _ => error_of(operation, source),
    }
}

/// The error of an operation. Only an unknown outcome leaves open whether something happened.
pub(in crate::store) fn error_of(operation: Operation, source: TxnError) -> StoreError {
    match source {
        TxnError::UnknownOutcome { .. } => {
            StoreError::Indeterminate { operation: verb(operation), source: source.into() }
        }
        TxnError::Database { .. } if source.sqlstate() == Some(UNDEFINED_COLUMN) => {
            unusable("the schema".to_owned(), &source)
        }
        _ => unavailable(operation, source),
    }
}

/// Nothing happened, and it may work later.
pub(in crate::store) fn unavailable(
    operation: Operation,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Unavailable { operation: verb(operation), source: source.into() }
}

/// The same when another call changes nothing about the answer: what an open or a clear left behind does not matter.
pub(in crate::store) fn as_unavailable(error: StoreError) -> StoreError {
    match error {
        StoreError::Indeterminate { operation, source } => StoreError::Unavailable { operation, source },
        error => error,
    }
}

/// The error of a later part of an operation in several: what the earlier ones did is done, so all of it is unknown.
pub(in crate::store) fn in_part(is_first: bool, error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { operation, source } if !is_first => {
            StoreError::Indeterminate { operation, source }
        }
        error => error,
    }
}

/// It does not fit into one write.
pub(in crate::store) fn too_large(operation: Operation, reason: String) -> StoreError {
    StoreError::TooLarge { operation: verb(operation), reason }
}

/// What is stored does not make sense.
pub(in crate::store) fn unusable(what: String, error: &dyn std::error::Error) -> StoreError {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    StoreError::Unusable { what, reason }
}

/// A column of a row of ours. Fails when the table has other types than ours.
pub(in crate::store) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T> {
    row.try_get(name).map_err(|error| unusable(format!("column {name}"), &error))
}

/// A text that PostgreSQL can hold.
pub(in crate::store) fn admit(what: impl FnOnce() -> String, field: &str, text: &str) -> Result<()> {
    match text.contains('\0') {
        false => Ok(()),
        true => Err(StoreError::Unusable {
            what: what(),
            reason: format!("its {field} has a zero byte, which PostgreSQL's text cannot hold"),
        }),
    }
}

/// The operation in the words of the store's contract.
fn verb(operation: Operation) -> &'static str {
    operation.name().strip_prefix("queue.").unwrap_or(operation.name())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::postgres::operations::PRODUCE;

    #[test]
    fn unknown_outcome_stays_unknown() {
        let error = error_of(PRODUCE, TxnError::UnknownOutcome { operation: PRODUCE, source: None });
        assert!(matches!(error, StoreError::Indeterminate { operation: "produce", .. }), "{error:?}");
        let known = as_unavailable(error);
        assert!(matches!(known, StoreError::Unavailable { operation: "produce", .. }), "{known:?}");
    }

    #[test]
    fn everything_else_is_known_to_have_had_no_effect() {
        let timeout = Duration::from_secs(1);
        for error in [
            TxnError::BadConfig { field: "port", reason: String::new() },
            TxnError::CredentialsMissing { reason: String::new() },
            TxnError::ConnectTimeout { attempts: 1, timeout },
            TxnError::PoolExhausted { size_max: 1, wait_timeout: timeout },
            TxnError::PoolClosed,
            TxnError::DeadlinePassed { operation: PRODUCE },
            TxnError::ConnectionLost { operation: PRODUCE, source: None },
        ] {
            let told = format!("{error:?}");
            let error = error_of(PRODUCE, error);
            assert!(
                matches!(error, StoreError::Unavailable { operation: "produce", .. }),
                "{told}: {error:?}"
            );
        }
    }

    #[test]
    fn zero_byte_is_refused_by_name() {
        let error = admit(|| "item 7".to_owned(), "kind", "a\0b").expect_err("a zero byte");
        assert!(error.to_string().starts_with("item 7 cannot be used: its kind has a zero byte"), "{error}");
        assert!(admit(String::new, "kind", "ab").is_ok());
    }
}
