//! Why an operation has no answer, and whether anything was written.

use leasehold_core::Class;
use leasehold_txn::Operation;

use crate::execution::CurrentConflict;

/// The answer of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation did not do what was asked.
///
/// [`may_have_been_committed`](Self::may_have_been_committed) tells whether it could have happened all the same.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The shard belongs to somebody else, or to a later incarnation of the caller.
    #[error("shard {shard_id} is at range {actual}, not {expected}: it has another owner")]
    ShardOwnershipLost {
        /// The shard.
        shard_id: i32,
        /// The range the caller came with.
        expected: i64,
        /// The range that is stored.
        actual: i64,
    },
    /// The token of a run differs from the caller's, or a run that was to be made is there already and both are 0.
    #[error("execution is at next event {next_event_id} and record version {db_record_version}")]
    WorkflowConditionFailed {
        /// The id of the next event that is stored.
        next_event_id: i64,
        /// The version that is stored.
        db_record_version: i64,
    },
    /// The current execution is not the one that the caller expected.
    #[error("the current execution is {}", current(.0))]
    CurrentWorkflowConditionFailed(Box<CurrentConflict>),
    /// A token differs from the caller's, or the row that carries it is missing.
    #[error("{what} is not as expected: {}", tokens(*.expected, *.actual))]
    ConditionFailed {
        /// What carries the token, such as `task queue`.
        what: &'static str,
        /// What the caller came with.
        expected: Option<i64>,
        /// What is stored; nothing when the row is missing or was not looked at.
        actual: Option<i64>,
    },
    /// The user data of a task queue is not at the version that the caller knows, so none of the request was written.
    #[error("user data of task queue {task_queue} is not at version {expected}")]
    UserDataConflict {
        /// The first queue of the request, by name, that is not.
        task_queue: String,
        /// The version the caller came with; 0 for none.
        expected: i64,
    },
    /// There is none by that name.
    #[error("no {what} by that name")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// A namespace has that name or that id already.
    #[error("a namespace of that name or id exists already")]
    NamespaceAlreadyExists,
    /// No namespace has that name or id.
    #[error("no namespace has that name or id")]
    NamespaceNotFound,
    /// A queue of that type has that name already.
    #[error("a queue of type {queue_type} has that name already")]
    QueueAlreadyExists {
        /// The type.
        queue_type: i32,
    },
    /// No queue of that type has that name.
    #[error("no queue of type {queue_type} has that name")]
    QueueNotFound {
        /// The type.
        queue_type: i32,
    },
    /// The request cannot be served as it is.
    #[error("{field} {reason}")]
    InvalidRequest {
        /// The part of the request.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// More rows or bytes than the database takes in a transaction, or a value that is too large for it.
    #[error("{operation} exceeds a limit of the database, nothing was committed")]
    TransactionSizeLimit {
        /// What was being done.
        operation: &'static str,
        /// What the database said.
        source: leasehold_txn::Error,
    },
    /// Every attempt lost to another transaction. Nothing was committed: slow down and try again.
    #[error("{operation} lost to other transactions {attempts} times, nothing was committed")]
    OccExhausted {
        /// What was being done.
        operation: &'static str,
        /// How often it was tried.
        attempts: u32,
        /// The last of it.
        source: leasehold_txn::Error,
    },
    /// A statement used what the database does not have: a fault of this crate.
    #[error("{operation} used a feature that the database does not have")]
    Unsupported {
        /// What was being done.
        operation: &'static str,
        /// What the database said.
        source: leasehold_txn::Error,
    },
    /// The database could not serve the request; nothing was committed.
    #[error("{operation} failed: the database was not available")]
    Unavailable {
        /// What was being done.
        operation: &'static str,
        /// Why.
        source: Option<leasehold_txn::Error>,
    },
    /// The database, or the way to it, does not take the request, and would not take it a second time: a row is there already,
    /// a value is out of range, a right is missing. Nothing was committed.
    #[error("{operation} was refused, nothing was committed")]
    Refused {
        /// What was being done.
        operation: &'static str,
        /// What was said.
        source: leasehold_txn::Error,
    },
    /// A row that must be there is not: the schema was not set up, or somebody deleted it.
    #[error("{what} is missing")]
    Missing {
        /// The row.
        what: &'static str,
    },
    /// `COMMIT` was sent and its answer never came: read before writing again.
    #[error("outcome of {operation} is unknown")]
    UnknownOutcome {
        /// What was being done.
        operation: &'static str,
        /// What came in place of the answer.
        source: leasehold_txn::Error,
    },
    /// No answer came in time while history was appended. It may be there: appending it again changes nothing.
    #[error("history was not appended in time")]
    AppendHistoryTimeout {
        /// What came in place of the answer.
        source: leasehold_txn::Error,
    },
    /// What is stored cannot be read.
    #[error("{what} cannot be read: {reason}")]
    Corrupt {
        /// The column or message.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The tables do not allow what was asked for.
    #[error("{reason}")]
    BadSchema {
        /// What is missing and what to do.
        reason: String,
    },
}

impl Error {
    pub(crate) const UNIQUE_VIOLATION: &'static str = "23505";

    pub(crate) fn invalid(field: &'static str, reason: String) -> Self {
        Self::InvalidRequest { field, reason }
    }

    /// What a failed transaction means.
    pub(crate) fn of(operation: Operation, error: leasehold_txn::Error) -> Self {
        use leasehold_txn::Error as Txn;
        let operation = operation.name();
        match error {
            Txn::UnknownOutcome { .. } => Self::UnknownOutcome { operation, source: error },
            Txn::LimitExceeded { .. } => Self::TransactionSizeLimit { operation, source: error },
            Txn::ConflictExhausted { attempts, .. } => {
                Self::OccExhausted { operation, attempts, source: error }
            }
            Txn::Unsupported { .. } => Self::Unsupported { operation, source: error },
            _ => match error.class() {
                // Where nothing is tried again, the first conflict is the last.
                Class::Conflict => Self::OccExhausted { operation, attempts: 1, source: error },
                Class::Rejected | Class::Internal => Self::Refused { operation, source: error },
                _ => Self::Unavailable { operation, source: Some(error) },
            },
        }
    }

    /// Whether a row with the same key or name was there already.
    pub(crate) fn is_duplicate(&self) -> bool {
        self.sqlstate() == Some(Self::UNIQUE_VIOLATION)
    }

    pub(crate) fn sqlstate(&self) -> Option<&str> {
        match self {
            Self::Unavailable { source, .. } => source.as_ref().and_then(leasehold_txn::Error::sqlstate),
            Self::TransactionSizeLimit { source, .. }
            | Self::OccExhausted { source, .. }
            | Self::Unsupported { source, .. }
            | Self::Refused { source, .. }
            | Self::UnknownOutcome { source, .. }
            | Self::AppendHistoryTimeout { source } => source.sqlstate(),
            _ => None,
        }
    }

    /// Whether the write could have happened although this is an error.
    #[must_use]
    pub fn may_have_been_committed(&self) -> bool {
        self.class() == Class::Indeterminate
    }

    /// A stable name for clients to match on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ShardOwnershipLost { .. } => "state.shard_ownership_lost",
            Self::WorkflowConditionFailed { .. } => "state.workflow_condition_failed",
            Self::CurrentWorkflowConditionFailed(_) => "state.current_workflow_condition_failed",
            Self::ConditionFailed { .. } => "state.condition_failed",
            Self::UserDataConflict { .. } => "state.user_data_conflict",
            Self::NotFound { .. } => "state.not_found",
            Self::NamespaceAlreadyExists => "state.namespace_already_exists",
            Self::NamespaceNotFound => "state.namespace_not_found",
            Self::QueueAlreadyExists { .. } => "state.queue_already_exists",
            Self::QueueNotFound { .. } => "state.queue_not_found",
            Self::InvalidRequest { .. } => "state.invalid_request",
            Self::TransactionSizeLimit { .. } => "state.transaction_size_limit",
            Self::OccExhausted { .. } => "state.occ_exhausted",
            Self::Unsupported { .. } => "state.unsupported",
            Self::Unavailable { .. } => "state.unavailable",
            Self::Refused { .. } => "state.refused",
            Self::Missing { .. } => "state.missing",
            Self::UnknownOutcome { .. } => "state.unknown_outcome",
            Self::AppendHistoryTimeout { .. } => "state.append_history_timeout",
            Self::Corrupt { .. } => "state.corrupt",
            Self::BadSchema { .. } => "state.bad_schema",
        }
    }

    /// What the caller may do next.
    #[must_use]
    pub fn class(&self) -> Class {
        match self {
            Self::ShardOwnershipLost { .. }
            | Self::WorkflowConditionFailed { .. }
            | Self::CurrentWorkflowConditionFailed(_)
            | Self::ConditionFailed { .. }
            | Self::UserDataConflict { .. }
            | Self::OccExhausted { .. } => Class::Conflict,
            Self::NotFound { .. }
            | Self::NamespaceAlreadyExists
            | Self::NamespaceNotFound
            | Self::QueueAlreadyExists { .. }
            | Self::QueueNotFound { .. }
            | Self::InvalidRequest { .. }
            | Self::TransactionSizeLimit { .. }
            | Self::BadSchema { .. } => Class::Rejected,
            Self::Refused { source, .. } => source.class(),
            Self::Unavailable { .. } | Self::Missing { .. } => Class::Unavailable,
            Self::UnknownOutcome { .. } | Self::AppendHistoryTimeout { .. } => Class::Indeterminate,
            Self::Unsupported { .. } | Self::Corrupt { .. } => Class::Internal,
        }
    }
}

fn current(conflict: &CurrentConflict) -> String {
    conflict.run_id.map_or_else(|| "none".to_owned(), |run_id| format!("run {run_id}"))
}

fn tokens(expected: Option<i64>, actual: Option<i64>) -> String {
    match (expected, actual) {
        (Some(expected), Some(actual)) => format!("expected {expected}, found {actual}"),
        (Some(expected), None) => format!("expected {expected}, found none"),
        (None, Some(actual)) => format!("found {actual}"),
        (None, None) => "it is there already or it is gone".to_owned(),
    }
}
