//! Makes a queue.

use leasehold_txn::Operation;

use super::metadata::Metadata;
use super::{NamedQueueKey, NamedQueues};
use crate::sql::Sql;
use crate::{Error, Result};

const CREATE: Operation = Operation::new("state.create_queue");
const INSERT_QUEUE: Sql = Sql::same(include_str!("sql/insert_queue.sql"));

impl NamedQueues {
    /// Makes a queue. Of several who make the same at once, one does.
    ///
    /// # Errors
    /// [`Error::QueueAlreadyExists`] when the name is taken.
    pub async fn create(&self, key: &NamedQueueKey) -> Result<()> {
        let blob = Metadata { min_message_id: 0 }.blob();
        let values: leasehold_txn::Parameters<'_> =
            &[&key.queue_type, &key.name, &blob.data(), &blob.encoding()];
        match self.database.write(CREATE, INSERT_QUEUE, values).await {
            Err(error) if error.is_duplicate() => {
                Err(Error::QueueAlreadyExists { queue_type: key.queue_type })
            }
            made => made.map(drop),
        }
    }
}
