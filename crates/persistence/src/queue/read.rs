//! Reads messages in their order.

use leasehold_txn::Operation;

use super::{Line, Message, Queue};
use crate::sql::Sql;
use crate::{PageSize, Result};

const READ: Operation = Operation::new("state.read_messages");
const SELECT_RANGE: Sql = Sql::same(include_str!("sql/select_range.sql"));

impl Queue {
    /// A page of the messages after the one with the id `after`; -1 is before the first.
    ///
    /// # Errors
    /// As every read.
    pub async fn read(&self, after: i64, page_size: PageSize) -> Result<Vec<Message>> {
        self.line.read(after, i64::MAX, page_size).await
    }
}

impl Line {
    /// Messages above `after`, up to and with `last`.
    pub(super) async fn read(&self, after: i64, last: i64, page_size: PageSize) -> Result<Vec<Message>> {
        let values: leasehold_txn::Parameters<'_> = &[&self.number, &after, &last, &page_size.limit()];
        let rows = self.database.read(READ, SELECT_RANGE, values).await?;
        rows.iter().map(Message::of).collect()
    }
}
