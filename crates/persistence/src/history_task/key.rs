//! Which task of a shard.

use leasehold_core::Timestamp;

use super::{Category, HistoryTask};
use crate::{Error, Result};

/// One task of a shard: its category, its number, and its time if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistoryTaskKey {
    pub(super) category: Category,
    pub(super) visibility: Option<Timestamp>,
    pub(super) task_id: i64,
}

impl HistoryTaskKey {
    /// The task of a category with a number; with a time if, and only if, the category has times.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the time is missing or too much.
    pub fn new(category: Category, visibility: Option<Timestamp>, task_id: i64) -> Result<Self> {
        if category.is_scheduled() != visibility.is_some() {
            let reason = "must be given for a scheduled task, and for no other".to_owned();
            return Err(Error::invalid("visibility", reason));
        }
        Ok(Self { category, visibility, task_id })
    }
}

impl HistoryTask {
    /// Which one it is.
    #[must_use]
    pub const fn key(&self) -> HistoryTaskKey {
        HistoryTaskKey { category: self.category, visibility: self.visibility, task_id: self.task_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_with_the_category() {
        let time = Some(Timestamp::EPOCH);
        assert!(HistoryTaskKey::new(Category::TIMER, time, 1).is_ok());
        assert!(HistoryTaskKey::new(Category::TRANSFER, None, 1).is_ok());
        for (category, time) in [(Category::TIMER, None), (Category::TRANSFER, time)] {
            let error = HistoryTaskKey::new(category, time, 1).expect_err("impossible");
            assert!(matches!(error, Error::InvalidRequest { field: "visibility", .. }), "{error}");
        }
    }
}
