use std::path::PathBuf;

use leasehold_core::Class;

/// Why a client could not be made, or a call was not answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The endpoint is not one.
    #[error("endpoint is refused: {reason}; write it like http://127.0.0.1:2319")]
    Endpoint {
        /// What is wrong with it, to follow "refused".
        reason: &'static str,
    },
    /// No connection: nothing was sent.
    #[error("no connection to the server at {endpoint}")]
    Connect {
        /// Where it should be.
        endpoint: String,
        /// What the transport said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Sent, and no answer came back.
    #[error("the answer of the server at {endpoint} was lost")]
    Lost {
        /// Where it is.
        endpoint: String,
        /// What broke.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The API key has characters that no key has.
    #[error("the API key is not one: it has characters that cannot be sent")]
    ApiKey,
    /// Not a place in a trace.
    #[error("not a traceparent such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    TraceParent,
    /// The certificates to trust cannot be read.
    #[error("the certificates to trust in {path} cannot be read: {reason}", path = path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The certificate to show, or its key, cannot be used.
    #[error("the client certificate or key in {path} cannot be used: {reason}", path = path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The server refused or failed.
    #[error("{message}")]
    Answered {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The status in words.
        code_text: String,
        /// What the server says.
        message: String,
        /// Its details: `code` in SyncGuard's words, `error` the stable code.
        details: std::collections::BTreeMap<String, String>,
    },
    /// What answered is not a leasehold server, or a later one.
    #[error("the answer of the server at {endpoint} cannot be read")]
    Unreadable {
        /// Where it is.
        endpoint: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable code; every one has its entry in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Endpoint { .. } => "client.endpoint",
            Error::ApiKey => "client.api_key",
            Error::CaFile { .. } => "client.ca_file",
            Error::TraceParent => "client.trace_parent",
            Error::Certificate { .. } => "client.certificate",
            Error::Connect { .. } => "client.connect",
            Error::Lost { .. } => "client.lost_answer",
            Error::Answered { .. } => "client.answered",
            Error::Unreadable { .. } => "client.unreadable",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::Endpoint { .. }
            | Error::ApiKey
            | Error::CaFile { .. }
            | Error::Certificate { .. }
            | Error::TraceParent => Class::Rejected,
            Error::Connect { .. } => Class::Unavailable,
            Error::Lost { .. } | Error::Unreadable { .. } => Class::Indeterminate,
            Error::Answered { status, details, .. } => match status {
                400 | 401 | 403 | 455 | 501 => Class::Rejected,
                453 => match details.get("error").map(String::as_str).unwrap_or_default() {
                    "queue.stopping" | "queue.engine_stopping" | "access.check_failed" => Class::Unavailable,
                    code if code.starts_with("access.") => Class::Rejected,
                    _ => Class::Indeterminate,
                },
                429 | 454 | 503 => Class::Unavailable,
                _ => Class::Internal,
            },
        }
    }
}
