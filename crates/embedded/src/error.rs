use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use leasehold_core::Class;

/// Why the embedded store could not be opened or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path exists and is not a folder.
    #[error("store path {path} is not a folder", path = path.display())]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// Creating, reading or protecting the folder or its file failed.
    #[error("store folder {path} cannot be used", path = path.display())]
    Folder {
        /// The path that failed.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another process has the folder open. Two writers would each believe in their own fences.
    #[error("store folder {path} is in use by another process", path = path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The file was written by a release with another layout.
    #[error("store folder {path} has format {found}; this release reads format {expected}", path = path.display())]
    Format {
        /// The folder.
        path: PathBuf,
        /// The format found in the file.
        found: u32,
        /// The format this release reads and writes.
        expected: u32,
    },
    /// The file exists but is not one of ours, or was damaged.
    #[error("store file {path} is damaged or is not a leasehold store", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        source: Box<redb::Error>,
    },
    /// The engine failed while running.
    #[error("embedded store failed")]
    Engine(#[source] Box<redb::Error>),
    /// The disk failed, and the file could not be opened again yet.
    #[error("store folder {path} is closed after a failure of the disk", path = path.display())]
    Closed {
        /// The folder.
        path: PathBuf,
    },
    /// A write did not happen.
    #[error("nothing was written to the embedded store")]
    NotWritten(#[source] Cause),
    /// A write was sent to the disk, and the disk did not say that it has it.
    #[error("outcome of a write to the embedded store is unknown")]
    Indeterminate(#[source] Cause),
}

/// Shared by all writes of a commit.
type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Stable code; every one has its entry in `docs/errors.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::NotAFolder { .. } => "embedded.not_a_folder",
            Error::Folder { .. } => "embedded.folder",
            Error::InUse { .. } => "embedded.in_use",
            Error::Format { .. } => "embedded.format",
            Error::Damaged { .. } => "embedded.damaged",
            Error::Engine(_) => "embedded.engine",
            Error::Closed { .. } => "embedded.closed",
            Error::NotWritten(_) => "embedded.not_written",
            Error::Indeterminate(_) => "embedded.indeterminate",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::NotAFolder { .. } | Error::Format { .. } => Class::Rejected,
            Error::Folder { .. } | Error::InUse { .. } | Error::Closed { .. } | Error::NotWritten(_) => {
                Class::Unavailable
            }
            Error::Indeterminate(_) => Class::Indeterminate,
            Error::Damaged { .. } | Error::Engine(_) => Class::Internal,
        }
    }

    pub(crate) fn engine(source: impl Into<redb::Error>) -> Self {
        Error::Engine(Box::new(source.into()))
    }
}
