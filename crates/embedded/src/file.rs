//! The one file, which can be opened again in place: the engine refuses everything once the disk has failed it.

use std::path::{Path, PathBuf};

use parking_lot::RwLock;
use redb::{
    Builder, Database, DatabaseError, ReadTransaction, ReadableDatabase, StorageError, WriteTransaction,
};

use crate::{Error, Result, folder, format};

/// Pages kept in memory. Leases live at the head of the tables, so a small cache holds the hot part.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// An open file, or one that waits to be opened again.
#[derive(Debug)]
pub(crate) struct File {
    folder: PathBuf,
    disk: Disk,
    database: RwLock<Option<Database>>,
}

/// What the engine writes to.
#[derive(Clone, Debug)]
pub(crate) enum Disk {
    Plain,
    #[cfg(feature = "faults")]
    Faulty(crate::faults::Faults),
}

impl File {
    pub(crate) fn open(folder: &Path, disk: Disk) -> Result<Self> {
        folder::create(folder)?;
        let database = open_database(folder, &disk)?;
        Ok(File { folder: folder.to_owned(), disk, database: RwLock::new(Some(database)) })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn begin_read(&self) -> Result<ReadTransaction> {
        self.with_database(|database| database.begin_read().map_err(Error::engine))
    }

    /// For the writer alone.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction> {
        self.with_database(|database| database.begin_write().map_err(Error::engine))
    }

    /// Lets go of the file and opens it again. Readers that are in the middle are told that it was closed. For the
    /// writer alone, with no transaction begun: the engine keeps the file open until that has ended.
    pub(crate) fn reopen(&self) -> Result<()> {
        let mut database = self.database.write();
        drop(database.take());
        *database = Some(open_database(&self.folder, &self.disk)?);
        Ok(())
    }

    fn with_database<T>(&self, begin: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        match &*self.database.read() {
            Some(database) => begin(database),
            None => Err(Error::Closed { path: self.folder.clone() }),
        }
    }
}

/// Whether only opening the file again can help.
pub(crate) fn is_lasting(error: &redb::Error) -> bool {
    use redb::Error as Engine;
    matches!(
        error,
        Engine::Io(_)
            | Engine::PreviousIo
            | Engine::DatabaseClosed
            | Engine::LockPoisoned(_)
            | Engine::Corrupted(_)
    )
}

fn open_database(folder: &Path, disk: &Disk) -> Result<Database> {
    let path = folder::file_path(folder);
    let file = folder::open_file(&path)?;
    let mut builder = Builder::new();
    let opened = match disk {
        Disk::Plain => builder.set_cache_size(CACHE_BYTES).create_file(file),
        #[cfg(feature = "faults")]
        Disk::Faulty(faults) => {
            // Too small to hide the disk.
            builder.set_cache_size(CACHE_BYTES / 1024);
            faults.over(file).and_then(|disk| builder.create_with_backend(disk))
        }
    };
    let database = opened.map_err(|error| opening_error(error, folder, &path))?;
    format::stamp_or_check(&database, folder)?;
    Ok(database)
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
