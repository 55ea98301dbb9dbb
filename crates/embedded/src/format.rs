//! The version of the file's layout and the id of the store, kept in the file: another release says so instead of
//! misreading it, and another store is not taken for this one.

use redb::{Database, ReadTransaction, TableDefinition, TableError};

use crate::identity::StoreId;

/// The layout this release reads and writes. Raised when a table changes its shape.
pub const FORMAT: u32 = 1;

const ABOUT: TableDefinition<'_, &str, u32> = TableDefinition::new("leasehold.about");
const ID: TableDefinition<'_, (), u128> = TableDefinition::new("leasehold.id");

/// What a file says of itself; nothing in one that has never been used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) format: Option<u32>,
    /// None from a release without ids.
    pub(crate) id: Option<StoreId>,
}

pub(crate) fn read(read: &ReadTransaction) -> Result<Stamp, redb::Error> {
    let format = match read.open_table(ABOUT) {
        Ok(about) => about.get("format")?.map(|stamped| stamped.value()),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(other) => return Err(other.into()),
    };
    let id = match read.open_table(ID) {
        Ok(id) => id.get(())?.map(|stamped| StoreId(stamped.value())),
        Err(TableError::TableDoesNotExist(_)) => None,
        Err(other) => return Err(other.into()),
    };
    Ok(Stamp { format, id })
}

/// Stamps a store with this release's format and its id.
pub(crate) fn stamp(database: &Database, id: StoreId) -> Result<(), redb::Error> {
    let write = database.begin_write()?;
    write.open_table(ABOUT)?.insert("format", FORMAT)?;
    write.open_table(ID)?.insert((), id.0)?;
    Ok(write.commit()?)
}

#[cfg(test)]
mod tests {
    use redb::ReadableDatabase;

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
            let write = database.begin_write().expect("begins");
            write.open_table(ABOUT).expect("opens").insert("format", later).expect("inserts");
            write.commit().expect("pretend that a later release wrote it");
        }
        let refused = Store::open(folder.path()).expect_err("a later format must not be read");
        assert_eq!(refused.code(), "embedded.format");
        assert!(refused.to_string().contains(&later.to_string()), "{refused}");

        let database = Database::open(file_path(folder.path())).expect("still a database");
        let stamp = read(&database.begin_read().expect("reads")).expect("readable");
        assert_eq!(stamp.format, Some(later), "the refused file was not rewritten");
    }
}
