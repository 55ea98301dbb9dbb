//! What users say of task queues, such as which builds of their workers may have which tasks; by name, for all types and
//! parts of a queue.

mod build_ids;
mod get;
mod list;
mod update;

pub use list::ListedUserData;
pub use update::{USER_DATA_UPDATES_MAX, UserDataUpdate};

use crate::{Blob, Database};

/// The user data of a task queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserData {
    /// How often it was written.
    pub version: i64,
    /// What the user said.
    pub blob: Blob,
}

/// The user data of the task queues of a database.
#[derive(Clone, Debug)]
pub struct UserDataStore {
    database: Database,
}

impl UserDataStore {
    /// The user data in `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}
