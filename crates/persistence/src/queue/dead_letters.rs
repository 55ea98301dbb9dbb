//! Messages that could not be handled, kept until somebody looks at them.

use super::{AckLevels, Line, Message};
use crate::{Blob, Page, PageSize, PageToken, Result};

/// The dead letters of a queue; see [`Queue::dead_letters`](super::Queue::dead_letters).
#[derive(Clone, Debug)]
pub struct DeadLetters {
    pub(super) line: Line,
}

impl DeadLetters {
    /// Adds a message; its id is the one after the last.
    ///
    /// # Errors
    /// As [`Queue::enqueue`](super::Queue::enqueue).
    pub async fn enqueue(&self, blob: &Blob) -> Result<i64> {
        self.line.enqueue(blob).await
    }

    /// A page of the messages above `first`, up to and with `last`. A token goes on from the page before, in place of
    /// `first`.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) when the token is not of this list.
    pub async fn read(
        &self,
        first: i64,
        last: i64,
        page_size: PageSize,
        token: Option<&PageToken>,
    ) -> Result<Page<Message>> {
        let after = match token {
            Some(token) => token.numbers::<1>()?[0],
            None => first,
        };
        let messages = self.line.read(after, last, page_size).await?;
        Ok(Page::new(messages, page_size, |last| Some(PageToken::of_numbers([last.id]))))
    }

    /// Deletes one message, if it is there.
    ///
    /// # Errors
    /// As every write.
    pub async fn delete(&self, id: i64) -> Result<()> {
        self.line.delete(id).await
    }

    /// Deletes the messages above `first`, up to and with `last`; as many transactions as
    /// [`Queue::delete_before`](super::Queue::delete_before).
    ///
    /// # Errors
    /// As every write.
    pub async fn delete_range(&self, first: i64, last: i64) -> Result<()> {
        self.line.delete_range(first, last).await
    }

    /// The ack levels.
    ///
    /// # Errors
    /// As [`Queue::ack_levels`](super::Queue::ack_levels).
    pub async fn ack_levels(&self) -> Result<AckLevels> {
        self.line.ack_levels().await
    }

    /// Stores ack levels, if those that are stored have the version that comes with them; then it is one higher.
    ///
    /// # Errors
    /// As [`Queue::update_ack_levels`](super::Queue::update_ack_levels).
    pub async fn update_ack_levels(&self, levels: &AckLevels) -> Result<()> {
        self.line.update_ack_levels(levels).await
    }
}
