//! A look into a folder without opening it for work.

use std::path::Path;
use std::{fs, io};

use redb::{DatabaseError, ReadOnlyDatabase, ReadableDatabase, StorageError};

use crate::folder::file_path;
use crate::{Error, Result, format, identity};

/// What a folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The size of the file; zero where there is none.
    pub file_bytes: u64,
    /// How it was found.
    pub state: Found,
}

/// How a folder was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// There is no folder, or no store was created in it yet.
    Nothing,
    /// The store that was created here has no file any more.
    Missing,
    /// The file has no bytes: its store was lost.
    Empty,
    /// The file is another store than the one that was created here. Seen only where it is closed.
    Replaced,
    /// Another process has it open.
    InUse,
    /// It was not closed: opening it will repair it first.
    Unclean,
    /// Closed, with this layout; `None` in a file that has never been used.
    Closed(Option<u32>),
}

/// Looks into a folder. Nothing is made, repaired or changed. Blocks on the disk.
///
/// A process that opens the folder for work in the same instant is told that it is in use.
pub fn inspect(folder: impl AsRef<Path>) -> Result<Inspection> {
    let folder = folder.as_ref();
    let unusable = |source: io::Error| Error::Folder { path: folder.to_owned(), source };
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(Error::NotAFolder { path: folder.to_owned() }),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(Inspection::nothing()),
        Err(source) => return Err(unusable(source)),
    }
    let path = file_path(folder);
    let marked = identity::marked(folder)?;
    let file_bytes = match fs::metadata(&path) {
        Ok(file) => file.len(),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
            let state = if marked.is_some() { Found::Missing } else { Found::Nothing };
            return Ok(Inspection { file_bytes: 0, state });
        }
        Err(source) => return Err(unusable(source)),
    };
    if file_bytes == 0 {
        return Ok(Inspection { file_bytes, state: Found::Empty });
    }
    let state = match ReadOnlyDatabase::open(&path) {
        Ok(database) => {
            let read = database.begin_read().map_err(Error::engine)?;
            let stamp = format::read(&read).map_err(Error::engine)?;
            match marked.is_some() && stamp.id != marked {
                true => Found::Replaced,
                false => Found::Closed(stamp.format),
            }
        }
        Err(DatabaseError::DatabaseAlreadyOpen) => Found::InUse,
        Err(DatabaseError::RepairAborted) => Found::Unclean,
        Err(DatabaseError::Storage(StorageError::Io(source)))
            if source.kind() != io::ErrorKind::InvalidData =>
        {
            return Err(unusable(source));
        }
        Err(damaged) => return Err(Error::Damaged { path, source: Box::new(damaged.into()) }),
    };
    Ok(Inspection { file_bytes, state })
}

impl Inspection {
    fn nothing() -> Self {
        Inspection { file_bytes: 0, state: Found::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FORMAT, Store};

    #[test]
    fn folder_is_seen_as_it_is_and_left_so() {
        let parent = tempfile::tempdir().expect("temporary folder");
        let folder = parent.path().join("data");
        assert_eq!(inspect(&folder).expect("looks").state, Found::Nothing);
        assert!(!folder.exists(), "nothing was made");

        let store = Store::open(&folder).expect("opens");
        assert_eq!(inspect(&folder).expect("looks").state, Found::InUse);
        drop(store);
        let before = fs::read(file_path(&folder)).expect("reads");
        let inspected = inspect(&folder).expect("looks");
        assert_eq!(
            inspected,
            Inspection { file_bytes: before.len() as u64, state: Found::Closed(Some(FORMAT)) }
        );
        assert!(fs::read(file_path(&folder)).expect("reads") == before, "the file is as it was");
        Store::open(&folder).expect("is free again");
    }

    #[test]
    fn lost_store_is_told_from_none() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let other = tempfile::tempdir().expect("temporary folder");
        let look = || inspect(folder.path()).expect("looks").state;
        drop(Store::open(folder.path()).expect("creates"));
        drop(Store::open(other.path()).expect("creates"));
        fs::copy(file_path(other.path()), file_path(folder.path())).expect("copies");
        assert_eq!(look(), Found::Replaced);
        fs::write(file_path(folder.path()), "").expect("truncates");
        assert_eq!(look(), Found::Empty);
        fs::remove_file(file_path(folder.path())).expect("removes");
        assert_eq!(look(), Found::Missing);
    }

    #[test]
    fn what_is_no_store_is_told() {
        let parent = tempfile::tempdir().expect("temporary folder");
        let file = parent.path().join("file");
        fs::write(&file, "x").expect("writes");
        assert_eq!(inspect(&file).expect_err("is no folder").code(), "embedded.not_a_folder");
        fs::write(file_path(parent.path()), "this is no store at all, whatever its name says")
            .expect("writes");
        assert_eq!(inspect(parent.path()).expect_err("is damaged").code(), "embedded.damaged");
    }
}
