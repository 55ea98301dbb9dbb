//! The one place that turns errors into statuses.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use leasehold_api::reply;
use leasehold_core::{Class, LockCode};

use crate::refusal::Refusal;

/// The envelope of every error, in the shape queue clients already read.
#[derive(Debug)]
pub(crate) struct Reply(reply::Reply);

impl Reply {
    pub(crate) fn bad_request(message: String) -> Self {
        Reply::new(400, "Bad Request", message)
    }

    pub(crate) fn queue_not_found(name: &str) -> Self {
        Reply::bad_request(format!("queue does not exist; no such queue named '{name}'"))
    }

    #[cfg(test)]
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn not_found(message: String) -> Self {
        Reply::new(404, "Not Found", message)
    }

    pub(crate) fn not_implemented(message: String) -> Self {
        Reply::new(501, "Not Implemented", message)
    }

    pub(crate) fn content_error(message: String) -> Self {
        Reply::new(455, "Client Content Error", message)
    }

    pub(crate) fn transport_error(message: String) -> Self {
        Reply::new(512, "Transport Error", message)
    }

    pub(crate) fn request_failed(message: String) -> Self {
        Reply::new(453, "Request Failed", message)
    }

    fn retry_request(message: String) -> Self {
        Reply::new(454, "Retry Request", message)
    }

    /// Nothing was done, and later it may be.
    pub(crate) fn overloaded() -> Self {
        Reply::retry_request("server is overloaded; too many long requests at once, try again".to_owned())
    }

    /// What went wrong is for the log.
    fn internal_error() -> Self {
        Reply::new(500, "Internal Service Error", "Internal Error".to_owned())
    }

    /// A request that no store would take.
    pub(crate) fn invalid_argument(message: &str) -> Self {
        Reply::bad_request(message.to_owned()).detail("code", LockCode::InvalidArgument.as_str())
    }

    fn new(code: i32, code_text: &str, message: String) -> Self {
        Reply(reply::Reply { code, code_text: code_text.to_owned(), message, details: BTreeMap::new() })
    }

    fn detail(mut self, name: &str, value: &str) -> Self {
        self.0.details.insert(name.to_owned(), value.to_owned());
        self
    }
}

impl From<leasehold_core::Error> for Reply {
    fn from(error: leasehold_core::Error) -> Self {
        leasehold_locks::Error::from(error).into()
    }
}

/// `details.code` is the failure in SyncGuard's words, `details.error` our stable code.
impl From<leasehold_locks::Error> for Reply {
    fn from(error: leasehold_locks::Error) -> Self {
        let reply = match error.class() {
            Class::Rejected => Reply::bad_request(error.to_string()),
            Class::Conflict | Class::Indeterminate => Reply::request_failed(error.to_string()),
            Class::Unavailable => Reply::retry_request(error.to_string()),
            Class::Internal => Reply::internal_error(),
        };
        if matches!(error.class(), Class::Unavailable | Class::Indeterminate | Class::Internal) {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(code = error.code(), error = chain, "a lock operation failed");
        }
        reply.detail("code", error.lock_code().as_str()).detail("error", error.code())
    }
}

/// `details.error` is our stable code. Unknown outcomes are not for repeating blindly, so they are not told as such.
impl From<leasehold_queue::Error> for Reply {
    fn from(error: leasehold_queue::Error) -> Self {
        use leasehold_queue::Error;
        let reply = match &error {
            Error::QueueStopping | Error::EngineStopping | Error::Indeterminate { .. } => {
                Reply::request_failed(error.to_string())
            }
            _ => match error.class() {
                Class::Rejected | Class::Conflict => Reply::bad_request(error.to_string()),
                Class::Unavailable => Reply::retry_request(error.to_string()),
                Class::Indeterminate => Reply::request_failed(error.to_string()),
                Class::Internal => Reply::internal_error(),
            },
        };
        if std::error::Error::source(&error).is_some() || error.class() == Class::Internal {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(code = error.code(), error = chain, "a queue operation failed");
        }
        reply.detail("error", error.code())
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let reply = match refusal {
            Refusal::CrossSite | Refusal::HostNotAllowed { .. } => {
                Reply::new(403, "Forbidden", refusal.to_string())
            }
            Refusal::TooManyElements { .. } => Reply::bad_request(refusal.to_string()),
        };
        reply.detail("error", refusal.code())
    }
}

impl From<leasehold_access::Error> for Reply {
    fn from(error: leasehold_access::Error) -> Self {
        if std::error::Error::source(&error).is_some() || error.class() == Class::Internal {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(code = error.code(), error = chain, "an access operation failed");
        }
        let reply = match error.reply_code() {
            401 => Reply::new(401, "Unauthorized", error.to_string()),
            403 => Reply::new(403, "Forbidden", error.to_string()),
            453 => Reply::request_failed(error.to_string()),
            454 => Reply::retry_request(error.to_string()),
            500 => Reply::internal_error(),
            _ => Reply::bad_request(error.to_string()),
        };
        reply.detail("error", error.code())
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = u16::try_from(self.0.code).ok().and_then(|code| StatusCode::from_u16(code).ok());
        (status.expect("the codes above are HTTP statuses"), Json(self.0)).into_response()
    }
}
