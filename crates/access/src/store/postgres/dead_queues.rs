use async_trait::async_trait;
use leasehold_queue::QueueName;
use leasehold_txn::Operation;
use leasehold_txn::tokio_postgres::types::Type;

use super::PostgresStore;
use super::script::Script;
use super::time::to_postgres;
use crate::DeadQueuePair;
use crate::store::{DeadQueueStore, Result};

const PERMIT: Operation = Operation::new("access.dead_queue.permit");
const IS_PERMITTED: Operation = Operation::new("access.dead_queue.is_permitted");
const FORGET: Operation = Operation::new("access.dead_queue.forget");

#[async_trait]
impl DeadQueueStore for PostgresStore {
    async fn permit(&self, pair: &DeadQueuePair) -> Result<()> {
        let script = Script::one(&[include_str!("sql/dead_queue_permit.sql")]);
        let permitted = self
            .write(
                PERMIT,
                &script,
                &[
                    (&pair.queue.as_str(), Type::TEXT),
                    (&to_postgres(pair.queue_created_at), Type::TIMESTAMPTZ),
                    (&pair.dead_queue.as_str(), Type::TEXT),
                    (&to_postgres(pair.dead_queue_created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        permitted.map(drop).map_err(|error| error.into_error(PERMIT))
    }

    async fn is_permitted(&self, pair: &DeadQueuePair) -> Result<bool> {
        let rows = self
            .read(
                IS_PERMITTED,
                include_str!("sql/dead_queue_is_permitted.sql"),
                &[
                    (&pair.queue.as_str(), Type::TEXT),
                    (&to_postgres(pair.queue_created_at), Type::TIMESTAMPTZ),
                    (&pair.dead_queue.as_str(), Type::TEXT),
                    (&to_postgres(pair.dead_queue_created_at), Type::TIMESTAMPTZ),
                ],
            )
            .await;
        Ok(!rows?.is_empty())
    }

    async fn forget(&self, queue: &QueueName) -> Result<()> {
        let script = Script::one(&[include_str!("sql/dead_queue_forget.sql")]);
        let forgotten = self.write(FORGET, &script, &[(&queue.as_str(), Type::TEXT)]).await;
        forgotten.map(drop).map_err(|error| error.into_error(FORGET))
    }
}
