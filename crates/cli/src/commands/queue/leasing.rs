//! Taking items, and finding none.

use std::time::Duration;

use leasehold_api::queue::{QueueCompleteRequest, QueueLeaseRequest, QueueLeaseResponse};
use leasehold_client::{Client, Error, Result};
use leasehold_core::duration;

use crate::client_id;

/// One consumer of a queue.
pub(super) struct Consumer<'a> {
    client: &'a Client,
    request: QueueLeaseRequest,
}

impl<'a> Consumer<'a> {
    pub(super) fn new(client: &'a Client, queue: &str, batch_size: u16, wait: Duration) -> Self {
        let request = QueueLeaseRequest {
            queue_name: queue.to_owned(),
            batch_size: i32::from(batch_size),
            client_id: client_id::random(),
            request_timeout: duration::format(wait),
            lease_timeout: String::new(),
        };
        Consumer { client, request }
    }

    pub(super) fn client_id(&mut self, client_id: String) {
        self.request.client_id = client_id;
    }

    pub(super) fn lease_timeout(&mut self, timeout: Duration) {
        self.request.lease_timeout = duration::format(timeout);
    }

    /// At most so many items from now on.
    pub(super) fn at_most(&mut self, items: u64) {
        let items = i32::try_from(items).unwrap_or(i32::MAX);
        self.request.batch_size = self.request.batch_size.min(items);
    }

    /// None if nothing became ready in time. That nobody could look is a failure: the queue may be full of items.
    pub(super) async fn lease(&self) -> Result<Option<QueueLeaseResponse>> {
        match self.client.lease(&self.request).await {
            Ok(leased) => Ok(Some(leased)),
            Err(Error::Answered { status: 454, message, details, .. })
                if message.starts_with("request timeout;")
                    && details.get("error").is_none_or(|code| code != "queue.lease_unavailable") =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// All that was leased, or nothing of it.
    pub(super) async fn complete(&self, partition: i32, ids: Vec<String>) -> Result<()> {
        let request = QueueCompleteRequest {
            queue_name: self.request.queue_name.clone(),
            partition,
            request_timeout: duration::format(COMPLETE_TIMEOUT),
            ids,
        };
        self.client.complete(&request).await
    }
}

const COMPLETE_TIMEOUT: Duration = Duration::from_secs(30);
