//! What a caller does next after an error.

use std::fmt;

/// Sorts every error by what the caller can do about it. The code says what went wrong; this says what now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// The request can never succeed as it is. Fix it; sending it again changes nothing.
    Rejected,
    /// Somebody else got there first. Look again, then decide.
    Conflict,
    /// The store could not serve the request and nothing happened. Retry, with backoff.
    Unavailable,
    /// The request may or may not have taken effect. Look up the state before retrying.
    Indeterminate,
    /// A fault of this software or of the stored data. Report it; a retry is not expected to help.
    Internal,
}

impl Class {
    /// The stable lower-case name, as used in logs, metrics and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::Indeterminate => "indeterminate",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
