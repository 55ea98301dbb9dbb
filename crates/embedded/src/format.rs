//! The version of the file's layout, kept in the file, so that another release says so instead of misreading it.

use std::path::Path;

use redb::{Database, ReadTransaction, ReadableDatabase, TableDefinition};

use crate::{Error, Result};

/// The layout this release reads and writes. Raised when a table changes its shape.
pub const FORMAT: u32 = 1;

const ABOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("leasehold.about");

/// Stamps a new file, or checks the stamp of an existing one. Nothing else is written before this passed.
pub(crate) fn stamp_or_check(database: &Database, folder: &Path) -> Result<()> {
    let read = database.begin_read().map_err(Error::engine)?;
    match stamp(&read).map_err(Error::engine)? {
        None => set_stamp(database, FORMAT).map_err(Error::engine),
        Some(FORMAT) => Ok(()),
        Some(found) => Err(Error::Format { path: folder.to_owned(), found, expected: FORMAT }),
    }
}

/// Reads the stamp; `None` in a file that has never been used.
pub(crate) fn stamp(read: &ReadTransaction) -> Result<Option<u32>, redb::Error> {
    let about = match read.open_table(ABOUT) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(other) => return Err(other.into()),
    };
    Ok(about.get("format")?.map(|stamped| stamped.value()))
}

fn set_stamp(database: &Database, format: u32) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    write.open_table(ABOUT)?.insert("format", format)?;
    Ok(write.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::folder::file_path;

    #[test]
    fn another_format_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let later = FORMAT + 1;
        Store::open(folder.path()).expect("first open stamps the file");
        {
            let database = Database::open(file_path(folder.path())).expect("is a database");
            set_stamp(&database, later).expect("pretend that a later release wrote it");
        }
        let refused = Store::open(folder.path()).expect_err("a later format must not be read");
        assert_eq!(refused.code(), "embedded.format");
        assert!(refused.to_string().contains(&later.to_string()), "{refused}");

        let database = Database::open(file_path(folder.path())).expect("still a database");
        let read = database.begin_read().expect("reads");
        assert_eq!(stamp(&read).expect("readable"), Some(later), "the refused file was not rewritten");
    }
}
