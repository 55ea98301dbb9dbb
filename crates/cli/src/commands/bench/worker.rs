//! One client under load.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use leasehold_api::queue::{QueueCompleteRequest, QueueLeaseRequest, QueueProduceItem, QueueProduceRequest};
use leasehold_client::{Client, Error, Result};

use super::Mode;
use super::figures::{Figures, Live, Operation};

/// How long a request may wait at the server.
const REQUEST_TIMEOUT: &str = "5s";
/// Before a request that was refused for lack of room is repeated.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Worker {
    pub(super) client: Client,
    pub(super) queue: String,
    pub(super) client_id: String,
    pub(super) batch: u16,
    pub(super) payload: Bytes,
    pub(super) mode: Mode,
    pub(super) live: Arc<Live>,
}

impl Worker {
    /// Ends after the round that is under way at the deadline.
    pub(super) async fn run(self, deadline: Instant) -> Result<Figures> {
        let mut figures = Figures::default();
        let item = QueueProduceItem { bytes: self.payload.clone(), ..QueueProduceItem::default() };
        let produce = QueueProduceRequest {
            queue_name: self.queue.clone(),
            request_timeout: REQUEST_TIMEOUT.to_owned(),
            items: vec![item; usize::from(self.batch)],
        };
        while Instant::now() < deadline {
            let started = Instant::now();
            match self.client.produce(&produce).await {
                Ok(()) => figures.time(Operation::Produce, started.elapsed()),
                Err(error) => {
                    refused(&mut figures, error).await?;
                    continue;
                }
            }
            match self.mode {
                Mode::Produce => self.count(&mut figures, produce.items.len()),
                Mode::Cycle => self.work_off(&mut figures, deadline).await?,
            }
        }
        Ok(figures)
    }

    /// As many items as were produced, so that the queue does not grow.
    async fn work_off(&self, figures: &mut Figures, deadline: Instant) -> Result<()> {
        let mut owed = i32::from(self.batch);
        while owed > 0 {
            let lease = QueueLeaseRequest {
                queue_name: self.queue.clone(),
                batch_size: owed,
                client_id: self.client_id.clone(),
                request_timeout: REQUEST_TIMEOUT.to_owned(),
                lease_timeout: String::new(),
            };
            let started = Instant::now();
            let leased = match self.client.lease(&lease).await {
                Ok(leased) => leased,
                Err(error) => {
                    refused(figures, error).await?;
                    if Instant::now() > deadline {
                        return Ok(());
                    }
                    continue;
                }
            };
            figures.time(Operation::Lease, started.elapsed());
            let count = leased.items.len();
            let complete = QueueCompleteRequest {
                queue_name: self.queue.clone(),
                partition: leased.partition,
                request_timeout: REQUEST_TIMEOUT.to_owned(),
                ids: leased.items.into_iter().map(|item| item.id).collect(),
            };
            let started = Instant::now();
            while let Err(error) = self.client.complete(&complete).await {
                refused(figures, error).await?;
            }
            figures.time(Operation::Complete, started.elapsed());
            self.count(figures, count);
            owed -= i32::try_from(count).unwrap_or(i32::MAX);
        }
        Ok(())
    }

    fn count(&self, figures: &mut Figures, items: usize) {
        figures.items += items as u64;
        self.live.add(items);
    }
}

/// A server without room says so, and is asked again; anything else ends the measurement.
async fn refused(figures: &mut Figures, error: Error) -> Result<()> {
    let Error::Answered { status: 454, .. } = error else { return Err(error) };
    figures.refused += 1;
    tokio::time::sleep(PAUSE).await;
    Ok(())
}
