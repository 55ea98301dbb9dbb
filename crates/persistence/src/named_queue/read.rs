//! Reads messages in their order.

use leasehold_txn::Operation;

use super::metadata::Metadata;
use super::{NamedQueueKey, NamedQueues, SELECT_QUEUE};
use crate::queue::Message;
use crate::sql::Sql;
use crate::{Error, Page, PageSize, PageToken, Result};

const READ: Operation = Operation::new("state.read_named_messages");
const SELECT_MESSAGES: Sql = Sql::same(include_str!("sql/select_messages.sql"));

impl NamedQueues {
    /// A page of messages, from the first one or from where the page before ended. None that was deleted, even if
    /// the token is older than that.
    ///
    /// # Errors
    /// [`Error::QueueNotFound`] before [`create`](Self::create), [`Error::InvalidRequest`] when the token is not of
    /// this list.
    pub async fn read(
        &self,
        key: &NamedQueueKey,
        page_size: PageSize,
        token: Option<&PageToken>,
    ) -> Result<Page<Message>> {
        let after = token.map(PageToken::numbers::<1>).transpose()?;
        let (queue_type, name) = (key.queue_type, key.name.as_str());
        let queue = self.database.read(READ, SELECT_QUEUE, &[&queue_type, &name]).await?;
        let queue = Metadata::of(queue.first().ok_or(Error::QueueNotFound { queue_type })?)?;
        let mut first =
            after.map_or(queue.min_message_id, |[after]| queue.min_message_id.max(after.saturating_add(1)));
        let rows = loop {
            let values: leasehold_txn::Parameters<'_> = &[&queue_type, &name, &first, &page_size.limit()];
            let rows = self.database.read(READ, SELECT_MESSAGES, values).await?;
            // The last message stays where it is when it is deleted, below the first id that counts; that may have been just now.
            match rows.first().map(Metadata::of).transpose()? {
                Some(now) if now.min_message_id > first => first = now.min_message_id,
                _ => break rows,
            }
        };
        let messages = rows.iter().map(Message::of).collect::<Result<Vec<_>>>()?;
        Ok(Page::new(messages, page_size, |last| Some(PageToken::of_numbers([last.id]))))
    }
}
