//! What producers and consumers do with a queue, and how it is looked after.

use leasehold_api::queue::{
    QueueClearRequest, QueueCompleteRequest, QueueExtendRequest, QueueExtendResponse, QueueLeaseRequest,
    QueueLeaseResponse, QueueProduceRequest, QueueReloadRequest, QueueRetryRequest, QueueStatsRequest,
    QueueStatsResponse,
};

use crate::{Client, Result};

impl Client {
    /// Stores the items together, in order, or not at all. Done means durable.
    pub async fn produce(&self, request: &QueueProduceRequest) -> Result<()> {
        self.tell_waiting(&request.request_timeout, "/v1/queue.produce", request).await
    }

    /// Waits for items and takes a lease of them. Status 454 if there was none in time.
    pub async fn lease(&self, request: &QueueLeaseRequest) -> Result<QueueLeaseResponse> {
        self.ask_waiting(&request.request_timeout, "/v1/queue.lease", request).await
    }

    /// Removes leased items: all or none.
    pub async fn complete(&self, request: &QueueCompleteRequest) -> Result<()> {
        self.tell_waiting(&request.request_timeout, "/v1/queue.complete", request).await
    }

    /// Gives leased items back, now, later, or to the dead queue: all or none.
    pub async fn retry(&self, request: &QueueRetryRequest) -> Result<()> {
        self.tell("/v1/queue.retry", request).await
    }

    /// Holds leased items longer: all or none.
    pub async fn extend(&self, request: &QueueExtendRequest) -> Result<QueueExtendResponse> {
        self.ask_waiting(&request.request_timeout, "/v1/queue.extend", request).await
    }

    /// Counts what is there and who waits.
    pub async fn stats(&self, request: &QueueStatsRequest) -> Result<QueueStatsResponse> {
        self.ask("/v1/queue.stats", request).await
    }

    /// Removes items without their being worked on.
    pub async fn clear(&self, request: &QueueClearRequest) -> Result<()> {
        self.tell("/v1/queue.clear", request).await
    }

    /// Has the counts of every partition read again from its store.
    pub async fn reload(&self, request: &QueueReloadRequest) -> Result<()> {
        self.tell("/v1/queue.reload", request).await
    }
}
