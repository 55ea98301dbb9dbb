use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Builder, Database, DatabaseError, StorageError};

use crate::{Error, Result, folder, format};

/// Pages kept in memory. Leases live at the head of the tables, so a small cache holds the hot part.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// An open folder. Cheap to clone; the folder is free for another process when the last clone is gone.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    database: Arc<Database>,
}

impl Store {
    /// Opens the folder, creating it (mode 700) and its file (mode 600) when they are missing.
    ///
    /// Blocks on the disk, and after an unclean stop until the file is repaired: call it at start, or from a
    /// thread that may block.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        folder::create(folder)?;
        let file = folder::file_path(folder);
        let database = Builder::new()
            .set_cache_size(CACHE_BYTES)
            .create_file(folder::open_file(&file)?)
            .map_err(|error| opening_error(error, folder, &file))?;
        format::stamp_or_check(&database, folder)?;
        Ok(Store { folder: folder.to_owned(), database: Arc::new(database) })
    }

    /// The folder this store lives in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The engine, for the crates that keep tables in it.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Reads from the file; an error means that requests would fail too. Blocks on the disk.
    pub fn check(&self) -> Result<()> {
        format::stamp(&self.database).map(drop)
    }
}

fn opening_error(error: DatabaseError, folder: &Path, file: &Path) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Error::InUse { path: folder.to_owned() },
        DatabaseError::Storage(StorageError::Io(source))
            if source.kind() != std::io::ErrorKind::InvalidData =>
        {
            Error::Folder { path: file.to_owned(), source }
        }
        damaged => Error::Damaged { path: file.to_owned(), source: Box::new(damaged.into()) },
    }
}
