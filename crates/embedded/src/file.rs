//! The one file, which can be opened again in place: the engine refuses everything once the disk has failed it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::RwLock;
use redb::{
    Builder, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, StorageError,
    WriteTransaction,
};

use crate::folder::{self, Absent, Inode, Lock};
use crate::identity::{self, StoreId};
use crate::{Error, Result, format};

/// Pages kept in memory. Leases live at the head of the tables, so a small cache holds the hot part.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// An open file, or one that waits to be opened again.
#[derive(Debug)]
pub(crate) struct File {
    folder: PathBuf,
    disk: Disk,
    id: StoreId,
    opened: RwLock<Option<Opened>>,
    // After the engine: the folder is free once the file is closed.
    _lock: Lock,
}

#[derive(Debug)]
struct Opened {
    database: Database,
    inode: Inode,
}

/// What the engine writes to.
#[derive(Clone, Debug)]
pub(crate) enum Disk {
    Plain,
    #[cfg(feature = "faults")]
    Faulty(crate::faults::Faults),
}

impl File {
    /// Opens the store of the folder. Only this creates one, and only where there was none.
    pub(crate) fn open(folder: &Path, disk: Disk, absent: Absent) -> Result<Self> {
        let folder = std::path::absolute(folder)
            .map_err(|source| Error::Folder { path: folder.to_owned(), source })?;
        folder::create(&folder, absent)?;
        let lock = Lock::take(&folder)?;
        let marked = identity::marked(&folder)?;
        let path = folder::file_path(&folder);
        let (opened, id) = match (folder::open_file(&path)?, marked, absent) {
            (Some(file), marked, _) => {
                // Closed cleanly, it was synced to its end, and what is cached is what the disk has.
                if ReadOnlyDatabase::open(&path).is_err() {
                    disk.settle(&path, &file)?;
                }
                open_existing(&folder, &disk, file, marked)?
            }
            (None, Some(_), _) => return Err(missing(&folder)),
            (None, None, Absent::Refuse) => return Err(Error::Absent { path: folder }),
            (None, None, Absent::Create) => create(&folder, &disk)?,
        };
        Ok(File { folder, disk, id, opened: RwLock::new(Some(opened)), _lock: lock })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn begin_read(&self) -> Result<ReadTransaction> {
        self.with_opened(|opened| opened.database.begin_read().map_err(Error::engine))
    }

    /// For the writer alone.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction> {
        self.with_opened(|opened| opened.database.begin_write().map_err(Error::engine))
    }

    /// Fails unless the path still leads to the open file: what is written to another is lost with this process.
    pub(crate) fn check_in_place(&self) -> Result<()> {
        self.with_opened(|opened| self.is_in_place(opened))
    }

    fn is_in_place(&self, opened: &Opened) -> Result<()> {
        let path = folder::file_path(&self.folder);
        match fs::metadata(&path) {
            Ok(found) if Inode::of(&found) == opened.inode => Ok(()),
            Ok(_) => Err(Error::Lost { path }),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Err(Error::Lost { path }),
            Err(source) => Err(Error::Folder { path, source }),
        }
    }

    /// Lets go of the file and opens it again. Readers that are in the middle are told that it was closed. For the
    /// writer alone, with no transaction begun: the engine keeps the file open until that has ended.
    pub(crate) fn reopen(&self) -> Result<()> {
        let mut opened = self.opened.write();
        if let Some(opened) = &*opened {
            // Of a file without a name this process has the last copy.
            self.is_in_place(opened)?;
        }
        drop(opened.take());
        let path = folder::file_path(&self.folder);
        let file = folder::open_file(&path)?.ok_or_else(|| missing(&self.folder))?;
        self.disk.settle(&path, &file)?;
        *opened = Some(open_existing(&self.folder, &self.disk, file, Some(self.id))?.0);
        Ok(())
    }

    fn with_opened<T>(&self, begin: impl FnOnce(&Opened) -> Result<T>) -> Result<T> {
        match &*self.opened.read() {
            Some(opened) => begin(opened),
            None => Err(Error::Closed { path: self.folder.clone() }),
        }
    }
}

impl Disk {
    /// Makes what is read from the file what the disk has. After a sync has failed, the system keeps the pages that it
    /// could not write and takes them for written: they would pass every check, and be gone after a power loss.
    fn settle(&self, path: &Path, file: &fs::File) -> Result<()> {
        let settled = match self {
            Disk::Plain => file.sync_all().and_then(|()| forget_cached(file)),
            #[cfg(feature = "faults")]
            Disk::Faulty(faults) => faults.settle(file),
        };
        settled.map_err(|source| Error::Unsynced { path: path.to_owned(), source })
    }

    fn engine(&self, file: fs::File) -> Result<Database, DatabaseError> {
        let mut builder = Builder::new();
        match self {
            Disk::Plain => builder.set_cache_size(CACHE_BYTES).create_file(file),
            #[cfg(feature = "faults")]
            Disk::Faulty(faults) => {
                // Too small to hide the disk.
                builder.set_cache_size(CACHE_BYTES / 1024);
                faults.over(file).and_then(|disk| builder.create_with_backend(disk))
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn forget_cached(file: &fs::File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Other systems have no such call, or keep failed pages as unwritten.
#[cfg(not(target_os = "linux"))]
fn forget_cached(_file: &fs::File) -> io::Result<()> {
    Ok(())
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

/// Creates a store under another name first: no crash leaves an empty or half a file under its own.
fn create(folder: &Path, disk: &Disk) -> Result<(Opened, StoreId)> {
    let path = folder::file_path(folder);
    let new = path.with_extension("redb.new");
    let failed = |source| Error::Folder { path: new.clone(), source };
    let file = folder::create_file(&new).map_err(failed)?;
    let inode = Inode::of(&file.metadata().map_err(failed)?);
    let id = StoreId::generate().map_err(failed)?;
    let database = disk.engine(file).map_err(|error| opening_error(error, folder, &new))?;
    format::stamp(&database, id).map_err(Error::engine)?;
    fs::rename(&new, &path).and_then(|()| folder::sync(folder)).map_err(failed)?;
    identity::mark(folder, id)?;
    Ok((Opened { database, inode }, id))
}

/// Opens a file that must be the marked store, if one is marked.
fn open_existing(
    folder: &Path,
    disk: &Disk,
    file: fs::File,
    marked: Option<StoreId>,
) -> Result<(Opened, StoreId)> {
    let path = folder::file_path(folder);
    let found = file.metadata().map_err(|source| Error::Folder { path: path.clone(), source })?;
    if found.len() == 0 {
        // The engine would make a new store of it.
        return Err(Error::Empty { path, marker: identity::marker_path(folder) });
    }
    let database = disk.engine(file).map_err(|error| opening_error(error, folder, &path))?;
    let id = identify(folder, &database, marked)?;
    Ok((Opened { database, inode: Inode::of(&found) }, id))
}

/// Compares the store with the marker. Nothing is written before its format and its id are known to be right.
fn identify(folder: &Path, database: &Database, marked: Option<StoreId>) -> Result<StoreId> {
    let read = database.begin_read().map_err(Error::engine)?;
    let stamp = format::read(&read).map_err(Error::engine)?;
    if let Some(found) = stamp.format.filter(|found| *found != format::FORMAT) {
        return Err(Error::Format { path: folder.to_owned(), found, expected: format::FORMAT });
    }
    let id = match (stamp.id, marked) {
        (Some(id), Some(marked)) if id == marked => return Ok(id),
        (_, Some(_)) => {
            let (path, marker) = (folder::file_path(folder), identity::marker_path(folder));
            return Err(Error::Replaced { path, marker });
        }
        // Copied without its marker, or created by a process that ended before it wrote one.
        (Some(id), None) => id,
        // From a release without ids.
        (None, None) => {
            let failed = |source| Error::Folder { path: folder.to_owned(), source };
            let id = StoreId::generate().map_err(failed)?;
            format::stamp(database, id).map_err(Error::engine)?;
            id
        }
    };
    identity::mark(folder, id)?;
    Ok(id)
}

fn missing(folder: &Path) -> Error {
    Error::Missing { path: folder::file_path(folder), marker: identity::marker_path(folder) }
}

fn opening_error(error: DatabaseError, folder: &Path, file: &Path) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Error::InUse { path: folder.to_owned() },
        DatabaseError::Storage(StorageError::Io(source)) if source.kind() != io::ErrorKind::InvalidData => {
            Error::Folder { path: file.to_owned(), source }
        }
        damaged => Error::Damaged { path: file.to_owned(), source: Box::new(damaged.into()) },
    }
}
