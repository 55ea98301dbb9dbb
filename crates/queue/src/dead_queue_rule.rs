use std::error::Error;
use std::fmt::Debug;

use async_trait::async_trait;

use crate::QueueInfo;

/// Says whose dead items may go where.
#[async_trait]
pub trait DeadQueueRule: Debug + Send + Sync + 'static {
    /// Whether items that die in the queue may be moved to the dead queue, as both are now. Asked for every move.
    ///
    /// # Errors
    /// What kept it from finding out.
    async fn may_deliver(
        &self,
        queue: &QueueInfo,
        dead_queue: &QueueInfo,
    ) -> Result<bool, Box<dyn Error + Send + Sync>>;
}
