//! The folder and its file, readable by their owner alone: payloads and keys are in there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// What to do where no store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    Create,
    Refuse,
}

/// Creates the folder if it is missing. An existing folder keeps the permissions its owner gave it.
pub(crate) fn create(folder: &Path, absent: Absent) -> Result<()> {
    let failed = |source| Error::Folder { path: folder.to_owned(), source };
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(Error::NotAFolder { path: folder.to_owned() }),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => match absent {
            Absent::Refuse => Err(Error::Absent { path: folder.to_owned() }),
            Absent::Create => {
                private_folder().create(folder).map_err(failed)?;
                folder.parent().map_or(Ok(()), sync).map_err(failed)
            }
        },
        Err(source) => Err(failed(source)),
    }
}

/// Makes the names in the folder durable.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Opens the database file; `None` without one.
pub(crate) fn open_file(path: &Path) -> Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Folder { path: path.to_owned(), source }),
    }
}

/// Creates a file, empty also where a crash left one of its name.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    private_file().open(path)
}

pub(crate) fn file_path(folder: &Path) -> PathBuf {
    folder.join("leasehold.redb")
}

/// The right to open, create and reopen what is in the folder. The engine's own lock is on the file, and does not cover
/// a second file of the same name, or the moments in which the file is closed.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    pub(crate) fn take(folder: &Path) -> Result<Self> {
        let opened =
            File::open(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })?;
        match opened.try_lock() {
            Err(TryLockError::WouldBlock) => Err(Error::InUse { path: folder.to_owned() }),
            // A file system that cannot lock folders leaves it to the engine.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Lock(opened)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would do, if no child of this process had just been given a copy.
        let _ = self.0.unlock();
    }
}

/// Which file a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    #[cfg(unix)]
    pub(crate) fn of(found: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Inode { device: found.dev(), number: found.ino() }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_found: &fs::Metadata) -> Self {
        Inode { device: 0, number: 0 }
    }
}

fn private_folder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
