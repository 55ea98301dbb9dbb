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
    /// There is no store, and the caller wanted one that exists.
    #[error("store folder {path} holds no store, and one must exist there", path = path.display())]
    Absent {
        /// The folder.
        path: PathBuf,
    },
    /// A store was created in the folder, and its file is not there. A new one would grant fences again from 1.
    #[error(
        "store file {path} is missing, although {marker} says that a store was created there. \
         Restore the file from a backup; to start empty, with fences from 1, delete {marker}",
        path = path.display(), marker = marker.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// What remembers the store.
        marker: PathBuf,
    },
    /// The file has no bytes, which no store ever has.
    #[error(
        "store file {path} is empty: its store was lost. \
         Restore the file from a backup; to start empty, with fences from 1, delete it and {marker}",
        path = path.display(), marker = marker.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// What remembers the store.
        marker: PathBuf,
    },
    /// The file is another store than the one that was created in the folder.
    #[error(
        "store file {path} belongs to another store than {marker} names. \
         Put the right file back; to go on with this one, delete {marker}",
        path = path.display(), marker = marker.display()
    )]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What remembers the store.
        marker: PathBuf,
    },
    /// The path no longer leads to the open file.
    #[error(
        "store file {path} was deleted, moved or replaced while the store was open. \
         Put it back, or stop this process and restore a backup",
        path = path.display()
    )]
    Lost {
        /// Where the file was.
        path: PathBuf,
    },
    /// The disk did not confirm what the file holds. Nothing of it is trusted until it does.
    #[error("store file {path} cannot be synced, so what the disk has of it is unknown", path = path.display())]
    Unsynced {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
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
pub(crate) type Cause = Arc<dyn std::error::Error + Send + Sync>;

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
            Error::Absent { .. } => "embedded.absent",
            Error::Missing { .. } => "embedded.missing",
            Error::Empty { .. } => "embedded.empty",
            Error::Replaced { .. } => "embedded.replaced",
            Error::Lost { .. } => "embedded.lost",
            Error::Unsynced { .. } => "embedded.unsynced",
            Error::Engine(_) => "embedded.engine",
            Error::Closed { .. } => "embedded.closed",
            Error::NotWritten(_) => "embedded.not_written",
            Error::Indeterminate(_) => "embedded.indeterminate",
        }
    }

    /// What the caller should do next.
    pub fn class(&self) -> Class {
        match self {
            Error::NotAFolder { .. } | Error::Format { .. } | Error::Absent { .. } => Class::Rejected,
            Error::Folder { .. }
            | Error::InUse { .. }
            | Error::Missing { .. }
            | Error::Empty { .. }
            | Error::Replaced { .. }
            | Error::Lost { .. }
            | Error::Unsynced { .. }
            | Error::Closed { .. }
            | Error::NotWritten(_) => Class::Unavailable,
            Error::Indeterminate(_) => Class::Indeterminate,
            Error::Damaged { .. } | Error::Engine(_) => Class::Internal,
        }
    }

    pub(crate) fn engine(source: impl Into<redb::Error>) -> Self {
        Error::Engine(Box::new(source.into()))
    }
}
