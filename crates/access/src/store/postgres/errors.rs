//! What the transaction layer reports, as an error of the store.

use leasehold_txn::{Error as TxnError, Operation};

use crate::store::StoreError;

/// The error of an operation. Only an unknown outcome leaves open whether something happened.
pub(super) fn error_of(operation: Operation, source: TxnError) -> StoreError {
    let operation = operation.name();
    match source {
        TxnError::UnknownOutcome { .. } => StoreError::Indeterminate { operation, source: source.into() },
        source => StoreError::Unavailable { operation, source: source.into() },
    }
}

/// The constraint that refused a row.
pub(super) fn violated(error: &TxnError) -> Option<&str> {
    match error.sqlstate() {
        Some("23503" | "23505") => error.database_error()?.constraint(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Class;

    use super::*;

    const OPERATION: Operation = Operation::new("access.test");

    #[test]
    fn unknown_outcome_stays_unknown_and_the_rest_did_not_happen() {
        let unknown = TxnError::UnknownOutcome { operation: OPERATION, source: None };
        assert_eq!(error_of(OPERATION, unknown).class(), Class::Indeterminate);
        for error in [TxnError::PoolClosed, TxnError::ConnectionLost { operation: OPERATION, source: None }] {
            assert!(violated(&error).is_none());
            assert_eq!(error_of(OPERATION, error).class(), Class::Unavailable);
        }
    }
}
