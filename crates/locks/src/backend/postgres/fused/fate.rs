//! What the failure of a whole statement means for each request in it.

use std::fmt;
use std::sync::Arc;

use crate::Error;
use crate::backend::postgres::errors::sqlstate;

/// Whether the server did nothing because of some request among many: a value that the table refuses, a lock id that was used
/// before, a deadlock. Asked one by one, the others succeed. What else a server says it would say to each.
pub(super) fn concerns_one(error: &Error) -> bool {
    sqlstate(error).is_some_and(|state| {
        state.starts_with("22") || state.starts_with("23") || matches!(state, "40P01" | "40001")
    })
}

/// The failure, once more for another of those it met.
pub(super) fn repeated(operation: &'static str, error: &Arc<Error>) -> Error {
    let source = Box::new(Shared(error.clone()));
    match &**error {
        Error::Indeterminate { .. } => Error::Indeterminate { operation, source },
        other => Error::Store { operation, lock_code: other.lock_code(), source },
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
