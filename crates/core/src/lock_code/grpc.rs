//! A gRPC status to our code.

use super::LockCode;

impl LockCode {
    /// The code of a Firestore error by the name of its gRPC status. The message counts only where the status
    /// misleads: a transaction that took too long comes back as an invalid argument.
    pub fn from_grpc_status(status: &str, message: &str) -> Self {
        match status {
            "PERMISSION_DENIED" | "UNAUTHENTICATED" => Self::AuthFailed,
            "DEADLINE_EXCEEDED" => Self::NetworkTimeout,
            _ if says_transaction_ended(message) => Self::NetworkTimeout,
            "UNAVAILABLE" | "INTERNAL" | "ABORTED" => Self::ServiceUnavailable,
            "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => Self::InvalidArgument,
            "RESOURCE_EXHAUSTED" => Self::RateLimited,
            _ => Self::Internal,
        }
    }
}

fn says_transaction_ended(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("transaction is invalid") || message.contains("invalid or closed")
}
