//! The one place that turns errors into statuses.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use leasehold_api::reply;
use leasehold_core::{Class, LockCode};

/// The envelope of every error, in the shape queue clients already read.
#[derive(Debug)]
pub(crate) struct Reply(reply::Reply);

impl Reply {
    pub(crate) fn bad_request(message: String) -> Self {
        Reply::new(400, "Bad Request", message)
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
            Class::Conflict | Class::Indeterminate => Reply::new(453, "Request Failed", error.to_string()),
            Class::Unavailable => Reply::new(454, "Retry Request", error.to_string()),
            Class::Internal => Reply::new(500, "Internal Service Error", "Internal Error".to_owned()),
        };
        if matches!(error.class(), Class::Unavailable | Class::Indeterminate | Class::Internal) {
            let chain = &error as &(dyn std::error::Error + 'static);
            tracing::warn!(code = error.code(), error = chain, "a lock operation failed");
        }
        reply.detail("code", error.lock_code().as_str()).detail("error", error.code())
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = u16::try_from(self.0.code).ok().and_then(|code| StatusCode::from_u16(code).ok());
        (status.expect("the codes above are HTTP statuses"), Json(self.0)).into_response()
    }
}
