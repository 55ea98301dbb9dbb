use async_trait::async_trait;
use leasehold_queue::QueueName;
use redb::TableDefinition;

use super::EmbeddedStore;
use crate::DeadQueuePair;
use crate::store::{DeadQueueStore, Result};

/// Beginning of the queue, dead queue, its beginning.
type Record<'a> = (i64, &'a str, i64);

/// By the name of the queue.
pub(super) const DEAD_QUEUES: TableDefinition<'_, &str, Record<'static>> =
    TableDefinition::new("access.dead_queues");

fn encode(pair: &DeadQueuePair) -> Record<'_> {
    (pair.queue_created_at.as_micros(), pair.dead_queue.as_str(), pair.dead_queue_created_at.as_micros())
}

#[async_trait]
impl DeadQueueStore for EmbeddedStore {
    async fn permit(&self, pair: &DeadQueuePair) -> Result<()> {
        let pair = pair.clone();
        self.write("permit_dead_queue", move |write| {
            write.open_table(DEAD_QUEUES)?.insert(pair.queue.as_str(), encode(&pair))?;
            Ok(())
        })
        .await
    }

    async fn is_permitted(&self, pair: &DeadQueuePair) -> Result<bool> {
        let pair = pair.clone();
        self.read("is_permitted_dead_queue", move |read| {
            let found = read.open_table(DEAD_QUEUES)?.get(pair.queue.as_str())?;
            Ok(found.is_some_and(|found| found.value() == encode(&pair)))
        })
        .await
    }

    async fn forget(&self, queue: &QueueName) -> Result<()> {
        let queue = queue.clone();
        self.write("forget_dead_queue", move |write| {
            write.open_table(DEAD_QUEUES)?.remove(queue.as_str())?;
            Ok(())
        })
        .await
    }
}
