//! What the failure of a whole statement means for each request in it.

use std::fmt;
use std::sync::Arc;

use crate::Error;

/// Whether the server is there, did nothing, and refused because of some request among many: a lock id that was used
/// before, a deadlock. Asked one by one, the others succeed.
pub(super) fn concerns_one(error: &Error) -> bool {
    match error {
        Error::Store { source, .. } => {
            matches!(source.downcast_ref(), Some(leasehold_txn::Error::Database { .. }))
        }
        _ => false,
    }
}

/// The failure, once more for another of those it met.
pub(super) fn repeated(error: &Arc<Error>) -> Error {
    let source = Box::new(Shared(error.clone()));
    match &**error {
        Error::Indeterminate { operation, .. } => Error::Indeterminate { operation, source },
        Error::Store { operation, lock_code, .. } => {
            Error::Store { operation, lock_code: *lock_code, source }
        }
        other => Error::Store { operation: "acquire", lock_code: other.lock_code(), source },
    }
}

/// An error that several callers got.
#[derive(Debug)]
struct Shared(Arc<Error>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Shared {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
