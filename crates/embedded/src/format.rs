//! The version of the file's layout, kept in the file, so that another release says so instead of misreading it.

use std::path::Path;

use redb::{Database, ReadableDatabase, TableDefinition};

use crate::{Error, Result};

/// The layout this release reads and writes. Raised when a table changes its shape.
pub const FORMAT: u32 = 1;

const ABOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("leasehold.about");

/// Stamps a new file, or checks the stamp of an existing one. Nothing else is written before this passed.
pub(crate) fn stamp_or_check(database: &Database, folder: &Path) -> Result<()> {
    match stamp(database)? {
        None => write_stamp(database),
        Some(FORMAT) => Ok(()),
        Some(found) => Err(Error::Format { path: folder.to_owned(), found, expected: FORMAT }),
    }
}

/// Reads the stamp; `None` in a file that has never been used.
pub(crate) fn stamp(database: &Database) -> Result<Option<u32>> {
    let read = database.begin_read().map_err(Error::engine)?;
    let about = match read.open_table(ABOUT) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(other) => return Err(Error::engine(other)),
    };
    let found = about.get("format").map_err(Error::engine)?;
    Ok(found.map(|stamped| stamped.value()))
}

fn write_stamp(database: &Database) -> Result<()> {
    set_stamp(database, FORMAT)
}

pub(crate) fn set_stamp(database: &Database, format: u32) -> Result<()> {
    let write = database.begin_write().map_err(Error::engine)?;
    {
        let mut about = write.open_table(ABOUT).map_err(Error::engine)?;
        about.insert("format", format).map_err(Error::engine)?;
    }
    write.commit().map_err(Error::engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn another_format_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let later = FORMAT + 1;
        {
            let store = Store::open(folder.path()).expect("first open stamps the file");
            set_stamp(store.database(), later).expect("pretend that a later release wrote it");
        }
        let refused = Store::open(folder.path()).expect_err("a later format must not be read");
        assert_eq!(refused.code(), "embedded.format");
        assert!(refused.to_string().contains(&later.to_string()), "{refused}");

        let database = Database::open(crate::folder::file_path(folder.path())).expect("still a database");
        assert_eq!(stamp(&database).expect("readable"), Some(later), "the refused file was not rewritten");
    }
}
