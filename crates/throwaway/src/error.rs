//! What can go wrong before there is a server.

use std::{io, path::PathBuf, time::Duration};

use crate::Service;

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server programs are not on this machine, and installing them was not allowed or not possible.
    #[error("{service} missing: {advice}")]
    Missing {
        /// What is missing.
        service: Service,
        /// The command that cures it, and why it was not run.
        advice: String,
    },
    /// A file or folder of ours could not be used.
    #[error("cannot {action} {}", path.display())]
    Folder {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Neither `postgres` nor `nobody` is in `/etc/passwd`, and a server must not run as root.
    #[error("no unprivileged account: /etc/passwd has neither postgres nor nobody, and servers refuse root")]
    NoAccount,
    /// A program such as `initdb` failed.
    #[error("{program} failed: {output}")]
    Program {
        /// Its name.
        program: String,
        /// The end of what it printed.
        output: String,
    },
    /// The guardian process did not do what it was asked.
    #[error("guardian of {server} did not answer {command:?} within {waited:?}")]
    Guardian {
        /// Which server it guards.
        server: &'static str,
        /// What it was asked.
        command: &'static str,
        /// How long it was given.
        waited: Duration,
    },
    /// The server ended, or did not accept connections in time.
    #[error("{server} {why}; its log ends:\n{log}")]
    NotReady {
        /// Which server.
        server: &'static str,
        /// What was seen instead.
        why: String,
        /// The end of its log.
        log: String,
    },
    /// No free port was found on the loopback interface.
    #[error("no free port on 127.0.0.1 between {from} and {to}")]
    NoPort {
        /// First port tried.
        from: u16,
        /// End of the range tried.
        to: u16,
    },
    /// A statement that sets a server up failed.
    #[error("cannot {action}")]
    Statement {
        /// What the statement was for.
        action: &'static str,
        /// The driver's error.
        source: tokio_postgres::Error,
    },
}

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable name of the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Error::Missing { .. } => "throwaway.missing",
            Error::Folder { .. } => "throwaway.folder",
            Error::NoAccount => "throwaway.no_account",
            Error::Program { .. } => "throwaway.program",
            Error::Guardian { .. } => "throwaway.guardian",
            Error::NotReady { .. } => "throwaway.not_ready",
            Error::NoPort { .. } => "throwaway.no_port",
            Error::Statement { .. } => "throwaway.statement",
        }
    }

    pub(crate) fn folder(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Folder { action, path, source }
    }

    /// The message with its causes, for the panics of calls that promise a value.
    pub(crate) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        text
    }
}
