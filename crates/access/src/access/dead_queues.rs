//! Dead queues in other namespaces: permit, remember, forget.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use leasehold_queue::{DeadQueueRule, Namespace, QueueInfo, QueueName};

use super::{Access, Driver};
use crate::store::{Cause, DeadQueueStore};
use crate::{DeadQueuePair, Error, Permission, Principal, Result, Stores};

impl Access {
    /// Passes if the actor may name the dead queue for a queue in the namespace: it is of the same namespace, or the actor
    /// may produce there, or it stays the one that was permitted to the queue as it is.
    ///
    /// # Errors
    /// As [`authorise`](Self::authorise), or what the store said.
    pub async fn permit_dead_queue(
        &self,
        actor: &Principal,
        namespace: &Namespace,
        queue: Option<&QueueInfo>,
        dead_queue: &QueueInfo,
    ) -> Result<()> {
        if dead_queue.namespace == *namespace {
            return Ok(());
        }
        let permitted = self.authorise(actor, dead_queue.namespace.as_str(), Permission::QueueProduce).await;
        match (permitted, queue, &self.0.stores.dead_queues) {
            (Err(Error::Denied), Some(queue), Some(store))
                if queue.options.dead_queue.as_ref() == Some(&dead_queue.name)
                    && store.is_permitted(&DeadQueuePair::of(queue, dead_queue)).await? =>
            {
                Ok(())
            }
            (permitted, ..) => permitted,
        }
    }

    /// Remembers that the queue's dead items may go to the dead queue, where that is not so anyway, and forgets what was
    /// permitted before. Dropping the call leaves it remembered or not.
    ///
    /// # Errors
    /// What the store said.
    pub async fn remember_dead_queue(&self, queue: &QueueInfo, dead_queue: Option<&QueueInfo>) -> Result<()> {
        let elsewhere = dead_queue.filter(|dead_queue| dead_queue.namespace != queue.namespace);
        match (&self.0.stores.dead_queues, elsewhere) {
            (Some(store), Some(elsewhere)) => Ok(store.permit(&DeadQueuePair::of(queue, elsewhere)).await?),
            _ => self.forget_dead_queue(&queue.name).await,
        }
    }

    /// Forgets what was remembered of a queue.
    ///
    /// # Errors
    /// What the store said.
    pub async fn forget_dead_queue(&self, queue: &QueueName) -> Result<()> {
        match &self.0.stores.dead_queues {
            Some(store) => Ok(store.forget(queue).await?),
            None => Ok(()),
        }
    }
}

/// Tells the engine where dead items may go. Looks at nothing but the two queues and what was remembered of them: rights
/// that changed since the dead queue was named do not hold items up.
#[derive(Clone)]
pub struct DeadQueues {
    driver: Driver,
    store: Option<Arc<dyn DeadQueueStore>>,
}

impl DeadQueues {
    /// Over these stores.
    #[must_use]
    pub fn new(stores: &Stores, driver: Driver) -> Self {
        Self { driver, store: stores.dead_queues.clone() }
    }
}

impl fmt::Debug for DeadQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadQueues").field("driver", &self.driver).finish_non_exhaustive()
    }
}

#[async_trait]
impl DeadQueueRule for DeadQueues {
    async fn may_deliver(&self, queue: &QueueInfo, dead_queue: &QueueInfo) -> Result<bool, Cause> {
        if self.driver == Driver::None || queue.namespace == dead_queue.namespace {
            return Ok(true);
        }
        match &self.store {
            Some(store) => Ok(store.is_permitted(&DeadQueuePair::of(queue, dead_queue)).await?),
            None => Ok(false),
        }
    }
}
