//! What the transaction layer reports, as an error of the store.

use leasehold_txn::{Error as TxnError, Operation};

use super::unusable;
use crate::store::StoreError;

/// The error of an operation. Only an unknown outcome leaves open whether something happened.
pub(super) fn error_of(operation: Operation, source: TxnError) -> StoreError {
    let operation = operation.name();
    match source {
        TxnError::UnknownOutcome { .. } => StoreError::Indeterminate { operation, source: source.into() },
        source => StoreError::Unavailable { operation, source: source.into() },
    }
}

/// Why a write did not happen.
#[derive(Debug)]
pub(super) enum Unwritten {
    /// A constraint would have refused it, by its name.
    Refused { constraint: String },
    /// The database said so.
    Failed(TxnError),
}

impl From<TxnError> for Unwritten {
    fn from(error: TxnError) -> Self {
        Unwritten::Failed(error)
    }
}

impl Unwritten {
    /// The constraint that refused a row.
    pub(super) fn violated(&self) -> Option<&str> {
        match self {
            Unwritten::Refused { constraint } => Some(constraint),
            Unwritten::Failed(error) => match error.sqlstate() {
                Some("23503" | "23505") => error.database_error()?.constraint(),
                _ => None,
            },
        }
    }

    /// The error of an operation that has no answer for it.
    pub(super) fn into_error(self, operation: Operation) -> StoreError {
        match self {
            Unwritten::Refused { constraint } => unusable(format!("{constraint} is in the way of it")),
            Unwritten::Failed(error) => error_of(operation, error),
        }
    }
}

/// The error of a later part of an operation in several: what the earlier ones did is done, so all of it is unknown.
pub(super) fn in_part(is_first: bool, error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { operation, source } if !is_first => {
            StoreError::Indeterminate { operation, source }
        }
        error => error,
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
            let error = Unwritten::from(error);
            assert!(error.violated().is_none());
            assert_eq!(error.into_error(OPERATION).class(), Class::Unavailable);
        }
    }

    #[test]
    fn later_part_that_fails_leaves_open_what_happened() {
        let failed = || error_of(OPERATION, TxnError::PoolClosed);
        assert_eq!(in_part(true, failed()).class(), Class::Unavailable);
        assert_eq!(in_part(false, failed()).class(), Class::Indeterminate);
    }
}
