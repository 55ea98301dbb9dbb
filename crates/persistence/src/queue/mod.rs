//! A queue of messages that every cluster reads at its own pace, and its dead letters.
//!
//! Ids count from 0 without a hole, each above the last message and above every ack level, so that none is given that its
//! readers have left behind. Readers of a queue delete strictly below the lowest ack level and so leave the last message,
//! but dead letters can all be deleted: who does stores their ack level first. Without one, or with ack levels that are not
//! in Temporal's encoding, a line that was emptied completely begins at 0 again.

mod ack_levels;
pub(crate) mod clusters;
mod dead_letters;
mod delete;
mod enqueue;
mod init;
mod read;

use leasehold_txn::tokio_postgres::Row;

use crate::sql::column;
use crate::{Blob, Database, Error, Result};

pub use ack_levels::AckLevels;
pub use dead_letters::DeadLetters;

/// What a queue is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueType(i32);

impl QueueType {
    /// Changes of namespaces on their way to other clusters.
    pub const NAMESPACE_REPLICATION: Self = Self(1);

    /// A type by its number.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] unless it is above zero: the numbers below are those of the dead letters.
    pub fn new(number: i32) -> Result<Self> {
        if number <= 0 {
            return Err(Error::invalid("queue_type", format!("must be above 0, is {number}")));
        }
        Ok(Self(number))
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0
    }
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its place in the queue.
    pub id: i64,
    /// What is in it.
    pub blob: Blob,
}

impl Message {
    pub(crate) fn of(row: &Row) -> Result<Self> {
        let blob = Blob::of_columns(row, "message_payload", "message_encoding")?;
        Ok(Self { id: column(row, "message_id")?, blob })
    }
}

/// A queue of one type.
#[derive(Clone, Debug)]
pub struct Queue {
    line: Line,
}

impl Queue {
    /// The queue of this type in `database`.
    #[must_use]
    pub fn new(database: Database, queue_type: QueueType) -> Self {
        Self { line: Line { database, number: queue_type.number() } }
    }

    /// Where messages go that could not be handled.
    #[must_use]
    pub fn dead_letters(&self) -> DeadLetters {
        DeadLetters { line: self.line.dead() }
    }
}

/// One line of messages: a queue's own, or its dead letters, which differ in the sign of the number.
#[derive(Clone, Debug)]
struct Line {
    database: Database,
    number: i32,
}

impl Line {
    fn dead(&self) -> Self {
        Self { database: self.database.clone(), number: -self.number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_dead_letters_are_no_types() {
        assert_eq!(QueueType::new(1).expect("a type"), QueueType::NAMESPACE_REPLICATION);
        for number in [0, -1, i32::MIN] {
            assert_eq!(QueueType::new(number).expect_err("no type").code(), "state.invalid_request");
        }
    }
}
