//! What Firestore says, in our words.

use std::error::Error as StdError;

use leasehold_core::{Key, LockCode, Transport};
use tonic::{Code, ConnectError, Status};

use crate::Error;

/// Document names carry keys, and what follows this carries document names.
const DOCUMENTS: &str = "/documents/";

/// Why one attempt came to nothing, sorted by what it leaves behind.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt would say the same.
    Final(Error),
    /// Firestore did not do it, for reasons of its own.
    NotDone(Status),
    /// Firestore did not do it because a document has changed since it was read.
    Conflict(Status),
    /// The write was sent, and its fate is unknown.
    Unknown(Status),
    /// The fate of an earlier write is unknown, and what is there now does not tell.
    Unresolved,
}

impl Failure {
    /// A call that writes nothing.
    pub(super) fn of_read(status: Status) -> Self {
        Failure::NotDone(status)
    }

    /// A call that writes.
    pub(super) fn of_commit(status: Status) -> Self {
        if never_sent(&status) {
            return Failure::NotDone(status);
        }
        if is_transport(&status) {
            return Failure::Unknown(status);
        }
        match status.code() {
            Code::FailedPrecondition | Code::AlreadyExists | Code::NotFound | Code::Aborted => {
                Failure::Conflict(status)
            }
            Code::InvalidArgument
            | Code::OutOfRange
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::ResourceExhausted
            | Code::Unimplemented => Failure::NotDone(status),
            _ => Failure::Unknown(status),
        }
    }

    /// Where a document of the key should be there is something else.
    pub(super) fn foreign(operation: &'static str, key: &Key) -> Self {
        Failure::Final(Error::Foreign { operation, key_hash: key.key_hash() })
    }

    /// Whether another attempt may fare better: the statuses Google's own clients repeat a transaction for.
    pub(super) fn is_worth_another(&self) -> bool {
        match self {
            Failure::Final(_) | Failure::Unresolved => false,
            Failure::Conflict(_) | Failure::Unknown(_) => true,
            Failure::NotDone(status) => {
                is_transport(status)
                    || matches!(
                        status.code(),
                        Code::Aborted
                            | Code::Cancelled
                            | Code::Unknown
                            | Code::DeadlineExceeded
                            | Code::Internal
                            | Code::Unavailable
                            | Code::Unauthenticated
                            | Code::ResourceExhausted
                    )
            }
        }
    }

    /// The error of an operation whose last attempt ended so; `unknown` tells of an earlier write that may have
    /// been done.
    pub(super) fn into_error(self, operation: &'static str, unknown: Option<Status>) -> Error {
        let indeterminate =
            |status: &Status| Error::Indeterminate { operation, source: Box::new(Said::by(status)) };
        match (self, unknown) {
            (Failure::Unknown(status), _) | (_, Some(status)) => indeterminate(&status),
            (Failure::Final(error), None) => error,
            (Failure::NotDone(status), None) => store(operation, lock_code(&status), &status),
            // Whatever the status: somebody else was quicker every time.
            (Failure::Conflict(status), None) => store(operation, LockCode::ServiceUnavailable, &status),
            (Failure::Unresolved, None) => indeterminate(&Status::unknown("")),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Final(error)
    }
}

/// What Firestore said, without the names of documents.
#[derive(Debug, thiserror::Error)]
#[error("{status}{text}")]
struct Said {
    status: &'static str,
    text: String,
}

impl Said {
    fn by(status: &Status) -> Said {
        let text = match status.code() {
            // Quotes what it finds invalid, which may be a key.
            Code::InvalidArgument | Code::AlreadyExists => String::new(),
            _ if is_transport(status) => status.source().map(chain).unwrap_or_default(),
            _ => without_names(status.message()),
        };
        let text = if text.is_empty() { text } else { format!(": {text}") };
        Said { status: name(status.code()), text }
    }
}

/// Documents are told by their path, or by the emulator as entities.
fn without_names(message: &str) -> String {
    let cut =
        [DOCUMENTS, "entity"].into_iter().filter_map(|mark| Some(message.find(mark)? + mark.len())).min();
    cut.map_or_else(|| message.to_owned(), |cut| format!("{}…", &message[..cut]))
}

/// An error with its causes, on one line.
pub(super) fn chain(error: &(dyn StdError + 'static)) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| StdError::source(*error))
}

fn store(operation: &'static str, lock_code: LockCode, status: &Status) -> Error {
    Error::Store { operation, lock_code, source: Box::new(Said::by(status)) }
}

fn lock_code(status: &Status) -> LockCode {
    if is_transport(status) {
        return LockCode::from_transport(Transport::Io);
    }
    LockCode::from_grpc_status(name(status.code()), status.message())
}

/// Statuses that came over the wire have no cause; those that stand for a broken connection do.
pub(super) fn is_transport(status: &Status) -> bool {
    status.source().is_some()
}

fn never_sent(status: &Status) -> bool {
    status.source().is_some_and(|cause| causes(cause).any(|cause| cause.is::<ConnectError>()))
}

/// The name of a status in the gRPC specification.
fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use leasehold_core::Class;

    use super::*;

    fn status(code: Code) -> Status {
        Status::new(code, "said")
    }

    fn broken() -> Status {
        Status::from_error(Box::new(std::io::Error::from(std::io::ErrorKind::ConnectionReset)))
    }

    fn unreachable() -> Status {
        Status::from_error(Box::new(ConnectError("refused".into())))
    }

    #[test]
    fn status_of_a_read_maps_row_by_row() {
        for (code, expected) in [
            (Code::PermissionDenied, LockCode::AuthFailed),
            (Code::Unauthenticated, LockCode::AuthFailed),
            (Code::DeadlineExceeded, LockCode::NetworkTimeout),
            (Code::Unavailable, LockCode::ServiceUnavailable),
            (Code::Internal, LockCode::ServiceUnavailable),
            (Code::Aborted, LockCode::ServiceUnavailable),
            (Code::InvalidArgument, LockCode::InvalidArgument),
            (Code::FailedPrecondition, LockCode::InvalidArgument),
            (Code::ResourceExhausted, LockCode::RateLimited),
            (Code::NotFound, LockCode::Internal),
            (Code::Cancelled, LockCode::Internal),
            (Code::Unknown, LockCode::Internal),
            (Code::AlreadyExists, LockCode::Internal),
            (Code::OutOfRange, LockCode::Internal),
            (Code::Unimplemented, LockCode::Internal),
            (Code::DataLoss, LockCode::Internal),
        ] {
            let error = Failure::of_read(status(code)).into_error("lookup", None);
            assert_eq!(error.lock_code(), expected, "{code:?}");
        }
        let ended = Status::invalid_argument("The referenced transaction is invalid or closed.");
        assert_eq!(Failure::of_read(ended).into_error("lookup", None).lock_code(), LockCode::NetworkTimeout);
        let lost = Failure::of_read(broken()).into_error("lookup", None);
        assert_eq!(lost.lock_code(), LockCode::ServiceUnavailable);
    }

    #[test]
    fn write_that_may_have_been_done_is_unknown() {
        for code in [
            Code::Unavailable,
            Code::Internal,
            Code::Unknown,
            Code::Cancelled,
            Code::DeadlineExceeded,
            Code::DataLoss,
        ] {
            let error = Failure::of_commit(status(code)).into_error("acquire", None);
            assert_eq!(error.class(), Class::Indeterminate, "{code:?}");
        }
        let lost = Failure::of_commit(broken()).into_error("acquire", None);
        assert_eq!(lost.class(), Class::Indeterminate);
    }

    #[test]
    fn write_that_was_never_sent_or_was_refused_has_not_been_done() {
        let unsent = Failure::of_commit(unreachable()).into_error("acquire", None);
        assert_eq!((unsent.class(), unsent.code()), (Class::Unavailable, "lock.unavailable"));
        for (code, expected) in [
            (Code::PermissionDenied, LockCode::AuthFailed),
            (Code::InvalidArgument, LockCode::InvalidArgument),
            (Code::ResourceExhausted, LockCode::RateLimited),
            (Code::FailedPrecondition, LockCode::ServiceUnavailable),
            (Code::AlreadyExists, LockCode::ServiceUnavailable),
            (Code::NotFound, LockCode::ServiceUnavailable),
            (Code::Aborted, LockCode::ServiceUnavailable),
        ] {
            let error = Failure::of_commit(status(code)).into_error("acquire", None);
            assert!(
                matches!(error, Error::Store { lock_code, .. } if lock_code == expected),
                "{code:?}: {error:?}"
            );
        }
    }

    #[test]
    fn later_failure_does_not_hide_an_unknown_write() {
        let error = Failure::of_read(status(Code::PermissionDenied)).into_error("acquire", Some(broken()));
        assert_eq!(error.code(), "lock.unknown_outcome");
        let final_one = Failure::from(Error::Invalid(leasehold_core::Error::KeyEmpty));
        assert_eq!(final_one.into_error("acquire", Some(broken())).code(), "lock.unknown_outcome");
        let error = Failure::Unresolved.into_error("release", Some(broken()));
        assert_eq!(error.code(), "lock.unknown_outcome");
    }

    #[test]
    fn statuses_that_clients_repeat_are_worth_another_attempt() {
        for (code, expected) in [
            (Code::Aborted, true),
            (Code::Cancelled, true),
            (Code::Unknown, true),
            (Code::DeadlineExceeded, true),
            (Code::Internal, true),
            (Code::Unavailable, true),
            (Code::Unauthenticated, true),
            (Code::ResourceExhausted, true),
            (Code::PermissionDenied, false),
            (Code::InvalidArgument, false),
            (Code::NotFound, false),
            (Code::FailedPrecondition, false),
            (Code::Unimplemented, false),
        ] {
            assert_eq!(Failure::of_read(status(code)).is_worth_another(), expected, "{code:?}");
        }
        assert!(Failure::of_read(broken()).is_worth_another());
        assert!(Failure::of_commit(status(Code::FailedPrecondition)).is_worth_another());
        let invalid = Error::Invalid(leasehold_core::Error::KeyEmpty);
        assert!(!Failure::from(invalid).is_worth_another());
    }

    #[test]
    fn names_of_documents_are_not_repeated() {
        let path = "projects/p/databases/d/documents/locks/alice@example.com";
        for (code, message, said) in [
            (
                Code::NotFound,
                format!("No document to update: {path}"),
                "NOT_FOUND: No document to update: projects/p/databases/d/documents/…",
            ),
            (
                Code::NotFound,
                "no entity to update: app: \"dev~p\" path < Element { name: \"alice@example.com\" } >".into(),
                "NOT_FOUND: no entity…",
            ),
            (
                Code::AlreadyExists,
                "entity already exists: EntityRef[path=/locks/alice@example.com]".into(),
                "ALREADY_EXISTS",
            ),
            (
                Code::NotFound,
                "The database (default) does not exist for project p".into(),
                "NOT_FOUND: The database (default) does not exist for project p",
            ),
            (
                Code::InvalidArgument,
                "Resource id \"alice@example.com\" is reserved".into(),
                "INVALID_ARGUMENT",
            ),
            (
                Code::PermissionDenied,
                "Missing permissions.".into(),
                "PERMISSION_DENIED: Missing permissions.",
            ),
        ] {
            assert_eq!(Said::by(&Status::new(code, message)).to_string(), said);
        }
        assert_eq!(Said::by(&broken()).to_string(), "UNKNOWN: connection reset");
    }
}
