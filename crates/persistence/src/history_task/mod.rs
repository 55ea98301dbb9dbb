//! History tasks: what a shard has yet to do, in a queue per category.

mod complete;
mod get;
mod insert;
mod key;
mod range;
mod tables;

pub(crate) use insert::insertions;
pub use key::HistoryTaskKey;
pub use range::HistoryTaskRange;

use leasehold_core::Timestamp;

use crate::{Blob, Database, Error, Result};

/// A kind of history task; the tasks of a category are a queue of their own in each shard. Categories are ordered by number,
/// and tasks are always written in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Category {
    id: i32,
    table: Table,
}

/// Where the tasks of a category are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Table {
    Transfer,
    Timer,
    Replication,
    Visibility,
    Immediate,
    Scheduled,
}

impl Category {
    /// What is to be handed to other shards and to matching.
    pub const TRANSFER: Self = Self { id: 1, table: Table::Transfer };
    /// What is to be done at a time.
    pub const TIMER: Self = Self { id: 2, table: Table::Timer };
    /// What other clusters are to be told.
    pub const REPLICATION: Self = Self { id: 3, table: Table::Replication };
    /// What is to be made searchable.
    pub const VISIBILITY: Self = Self { id: 4, table: Table::Visibility };

    /// A category without a table of its own, whose tasks are done in the order of their ids.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] for the number of a category that has a table, or of none.
    pub fn immediate(id: i32) -> Result<Self> {
        Self::other(id, Table::Immediate)
    }

    /// A category without a table of its own, whose tasks are done in the order of their times.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] for the number of a category that has a table, or of none.
    pub fn scheduled(id: i32) -> Result<Self> {
        Self::other(id, Table::Scheduled)
    }

    fn other(id: i32, table: Table) -> Result<Self> {
        if id <= Self::VISIBILITY.id {
            let reason = format!("must be above {}, is {id}", Self::VISIBILITY.id);
            return Err(Error::invalid("category_id", reason));
        }
        Ok(Self { id, table })
    }

    /// Its number.
    #[must_use]
    pub const fn id(self) -> i32 {
        self.id
    }

    /// Whether its tasks have a time to be done at.
    #[must_use]
    pub const fn is_scheduled(self) -> bool {
        matches!(self.table, Table::Timer | Table::Scheduled)
    }

    pub(crate) const fn table(self) -> Table {
        self.table
    }
}

/// A history task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryTask {
    category: Category,
    task_id: i64,
    visibility: Option<Timestamp>,
    blob: Blob,
}

impl HistoryTask {
    /// A task to be done as soon as its turn comes.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the tasks of the category need a time.
    pub fn immediate(category: Category, task_id: i64, blob: Blob) -> Result<Self> {
        if category.is_scheduled() {
            return Err(Error::invalid("visibility", "must be given for a scheduled task".to_owned()));
        }
        Ok(Self { category, task_id, visibility: None, blob })
    }

    /// A task to be done at a time, kept to the microsecond.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the tasks of the category have no time.
    pub fn scheduled(category: Category, visibility: Timestamp, task_id: i64, blob: Blob) -> Result<Self> {
        if !category.is_scheduled() {
            return Err(Error::invalid("visibility", "must not be given for an immediate task".to_owned()));
        }
        Ok(Self { category, task_id, visibility: Some(visibility), blob })
    }

    /// The queue it belongs to.
    #[must_use]
    pub const fn category(&self) -> Category {
        self.category
    }

    /// Its number, unique in its shard and queue.
    #[must_use]
    pub const fn task_id(&self) -> i64 {
        self.task_id
    }

    /// The time it is to be done at, if its category has times.
    #[must_use]
    pub const fn visibility(&self) -> Option<Timestamp> {
        self.visibility
    }

    /// What is to be done.
    #[must_use]
    pub const fn blob(&self) -> &Blob {
        &self.blob
    }
}

/// The history tasks of a database. They are written together with what gave rise to them, and under the same fence; reading
/// and completing them has none.
#[derive(Clone, Debug)]
pub struct HistoryTasks {
    database: Database,
}

impl HistoryTasks {
    /// The history tasks of `database`.
    #[must_use]
    pub fn new(database: Database) -> Self {
        Self { database }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_table_of_their_own_are_no_other_categories() {
        for id in [i32::MIN, 0, 1, 4] {
            assert!(Category::immediate(id).is_err(), "{id}");
            assert!(Category::scheduled(id).is_err(), "{id}");
        }
        assert!(!Category::immediate(5).expect("a category").is_scheduled());
        assert!(Category::scheduled(5).expect("a category").is_scheduled());
    }

    #[test]
    fn time_goes_with_the_category() {
        let blob = Blob::proto3(vec![1]);
        assert!(HistoryTask::immediate(Category::TIMER, 1, blob.clone()).is_err());
        assert!(HistoryTask::scheduled(Category::TRANSFER, Timestamp::EPOCH, 1, blob.clone()).is_err());
        let task = HistoryTask::scheduled(Category::TIMER, Timestamp::EPOCH, 7, blob).expect("a task");
        assert_eq!((task.task_id(), task.visibility()), (7, Some(Timestamp::EPOCH)));
    }

    #[test]
    fn categories_are_ordered_by_number() {
        let other = Category::immediate(5).expect("a category");
        let mut all =
            [other, Category::VISIBILITY, Category::TIMER, Category::TRANSFER, Category::REPLICATION];
        all.sort_unstable();
        assert_eq!(all.map(Category::id), [1, 2, 3, 4, 5]);
    }
}
