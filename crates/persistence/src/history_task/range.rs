//! Which tasks of a category.

use std::ops::Range;

use leasehold_core::Timestamp;

use super::Category;
use crate::{Error, Result};

/// A part of the queue of a category: by id, or by time where its tasks have times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryTaskRange {
    pub(super) category: Category,
    pub(super) bounds: Bounds,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    Ids(Range<i64>),
    Times(Range<Timestamp>),
}

impl HistoryTaskRange {
    /// The tasks with these ids.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the tasks of the category are in the order of their times, or the range goes down.
    pub fn ids(category: Category, ids: Range<i64>) -> Result<Self> {
        if category.is_scheduled() {
            return Err(Error::invalid("range", "must be of times for a scheduled category".to_owned()));
        }
        if ids.start > ids.end {
            let reason = format!("must not go down, is {} to {}", ids.start, ids.end);
            return Err(Error::invalid("range", reason));
        }
        Ok(Self { category, bounds: Bounds::Ids(ids) })
    }

    /// The tasks to be done at these times.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when the tasks of the category have no times, or the range goes down.
    pub fn times(category: Category, times: Range<Timestamp>) -> Result<Self> {
        if !category.is_scheduled() {
            return Err(Error::invalid("range", "must be of ids for an immediate category".to_owned()));
        }
        if times.start > times.end {
            return Err(Error::invalid("range", "must not go down".to_owned()));
        }
        Ok(Self { category, bounds: Bounds::Times(times) })
    }

    /// The category.
    #[must_use]
    pub fn category(&self) -> Category {
        self.category
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_goes_with_the_category_and_not_down() {
        let at = Timestamp::from_micros;
        assert!(HistoryTaskRange::ids(Category::TRANSFER, 3..3).is_ok());
        assert!(HistoryTaskRange::times(Category::TIMER, at(1)..at(2)).is_ok());
        for wrong in [
            HistoryTaskRange::ids(Category::TIMER, 1..2),
            HistoryTaskRange::ids(Category::TRANSFER, Range { start: 2, end: 1 }),
            HistoryTaskRange::times(Category::REPLICATION, at(1)..at(2)),
            HistoryTaskRange::times(Category::TIMER, at(2)..at(1)),
        ] {
            assert!(matches!(wrong, Err(Error::InvalidRequest { field: "range", .. })), "{wrong:?}");
        }
    }
}
