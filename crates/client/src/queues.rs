//! Queues themselves.

use leasehold_api::queue::{
    QueueInfo, QueuesDeleteRequest, QueuesInfoRequest, QueuesListRequest, QueuesListResponse,
};

use crate::{Client, Result};

impl Client {
    /// Creates a queue; it serves when this returns.
    pub async fn create_queue(&self, request: &QueueInfo) -> Result<()> {
        self.tell("/v1/queues.create", request).await
    }

    /// The queues of one namespace from the pivot on, by name.
    pub async fn list_queues(&self, request: &QueuesListRequest) -> Result<QueuesListResponse> {
        self.ask("/v1/queues.list", request).await
    }

    /// Changes a queue. What is left out of attempts, reference and dead queue is reset.
    pub async fn update_queue(&self, request: &QueueInfo) -> Result<()> {
        self.tell("/v1/queues.update", request).await
    }

    /// Deletes a queue and its items.
    pub async fn delete_queue(&self, request: &QueuesDeleteRequest) -> Result<()> {
        self.tell("/v1/queues.delete", request).await
    }

    /// One queue.
    pub async fn queue_info(&self, request: &QueuesInfoRequest) -> Result<QueueInfo> {
        self.ask("/v1/queues.info", request).await
    }
}
