//! The stream of items: produce, lease, complete, retry, extend.

use std::future::Future;
use std::time::Duration;

use super::Engine;
use super::figures::Operation;
use crate::partition::ready_len;
use crate::queue::message::{Change, Fate, Lease, Produce, RouterMessage, Wish};
use crate::reply::{Extended, Leased, Produced};
use crate::request::{CompleteRequest, ExtendRequest, Ids, LeaseRequest, ProduceRequest, RetryRequest};
use crate::{Error, Result};
use leasehold_core::{Deadline, Timestamp};

/// How much longer than the store a caller waits for the truth about its own write.
const GRACE: Duration = Duration::from_secs(1);

impl Engine {
    /// Adds items to a queue. When it returns they are stored durably, in one partition, in order.
    ///
    /// Dropped midway, the items may be stored or not; they are not if no partition had begun to write them.
    ///
    /// # Errors
    /// [`Error::ProduceTimeout`] if no partition could take them in time: nothing was stored.
    /// [`Error::Indeterminate`] if the store did not say in time what became of them.
    pub async fn produce(&self, request: ProduceRequest) -> Result<Produced> {
        self.observed(Operation::Produce, async {
            let queue = self.inner.open(&request.queue).await?;
            let deadline = request.check(&self.inner.config.limits)?;
            let room = queue.room(&request.items)?;
            let (call, in_flight) = queue.call(deadline)?;
            let charged = ready_len(&request.items, self.clock().now());
            queue.send(RouterMessage::Produce(Produce { call, items: request.items, room, charged }))?;
            in_flight.answer("produce", self.grace(), || Error::ProduceTimeout).await
        })
        .await
    }

    /// Leases the next items of a queue; waits for the first until the timeout, and never to fill the batch. There are
    /// fewer than asked for if more would make the answer too long.
    ///
    /// Dropped midway, the wish is withdrawn. If items were being leased at that moment they stay leased until their
    /// deadline, and are then leased anew.
    ///
    /// # Errors
    /// [`Error::LeaseTimeout`] if there was nothing to lease, [`Error::LeaseUnavailable`] if nobody could tell;
    /// [`Error::Overloaded`] if there was, and too much of what was leased before is still in memory: nothing was leased.
    pub async fn lease(&self, request: LeaseRequest) -> Result<Leased> {
        self.observed(Operation::Lease, async {
            let queue = self.inner.open(&request.queue).await?;
            let expire_timeout = queue.info().options.expire_timeout;
            let (deadline, batch_size) = request.check(&self.inner.config.limits, expire_timeout)?;
            let (call, mut in_flight) = queue.call(deadline)?;
            let client_id: std::sync::Arc<str> = request.client_id.into();
            in_flight.client_id = Some(client_id.clone());
            let lease =
                Lease { call, client_id, batch_size, lease_timeout: request.lease_timeout, charged: 0 };
            queue.send(RouterMessage::Lease(lease))?;
            let answer = in_flight.answer("lease", self.grace(), || Error::LeaseTimeout).await;
            match answer {
                Err(Error::LeaseTimeout) if !queue.has_well_partition() => Err(Error::LeaseUnavailable),
                answer => answer,
            }
        })
        .await
    }

    /// Deletes leased items: they are done. All of them or none.
    ///
    /// Dropped midway, they may be deleted or not. If the store loses its answer, ids that are gone afterwards count
    /// as completed if they were surely held before; otherwise, as after a restart, the outcome is unknown.
    ///
    /// # Errors
    /// [`Error::ItemNotFound`] or [`Error::NotLeased`] for the first id that cannot be completed;
    /// [`Error::Storage`] at once if the store failed: nothing was deleted.
    pub async fn complete(&self, request: CompleteRequest) -> Result<()> {
        self.observed(Operation::Complete, async {
            let queue = self.inner.open(&request.queue).await?;
            let partition = queue.partition(request.partition)?;
            let deadline = request.check(&self.inner.config.limits)?;
            self.change(&queue, partition, deadline, Ids::split(request.ids), Wish::Complete).await
        })
        .await
        .map(drop)
    }

    /// Gives leased items back, now or for later, or declares them dead. All of them or none. An item that had its
    /// last attempt is dead.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub async fn retry(&self, request: RetryRequest) -> Result<()> {
        self.observed(Operation::Retry, async {
            let queue = self.inner.open(&request.queue).await?;
            let partition = queue.partition(request.partition)?;
            let deadline = request.check(&self.inner.config.limits)?;
            let fates = request.items.iter().map(|item| match item.dead {
                true => Fate::Dead,
                false => Fate::At(item.retry_at),
            });
            let wish = Wish::Retry(fates.collect());
            let ids = Ids::split(request.items.into_iter().map(|item| item.id));
            self.change(&queue, partition, deadline, ids, wish).await
        })
        .await
        .map(drop)
    }

    /// Holds leased items longer: so long from now. All of them or none. An item that was given back or reclaimed has
    /// another id, so whoever lost it cannot extend it.
    ///
    /// Dropped midway, it may have happened or not.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub async fn extend(&self, request: ExtendRequest) -> Result<Extended> {
        self.observed(Operation::Extend, async {
            let queue = self.inner.open(&request.queue).await?;
            let partition = queue.partition(request.partition)?;
            let expire_timeout = queue.info().options.expire_timeout;
            let deadline = request.check(&self.inner.config.limits, expire_timeout)?;
            let wish = Wish::Extend(request.lease_timeout);
            let extended = self.change(&queue, partition, deadline, Ids::split(request.ids), wish).await?;
            Ok(Extended { lease_deadline: extended.unwrap_or(Timestamp::EPOCH) })
        })
        .await
    }

    async fn change(
        &self,
        queue: &std::sync::Arc<crate::queue::Queue>,
        partition: usize,
        deadline: Deadline,
        ids: Ids,
        wish: Wish,
    ) -> Result<Option<Timestamp>> {
        let operation = wish.operation();
        let number = queue.number(partition);
        let (call, in_flight) = queue.call(deadline)?;
        queue.send(RouterMessage::Change(Change { call, partition, ids, wish }))?;
        in_flight.answer(operation, self.grace(), || Error::PartitionFailing { partition: number }).await
    }

    fn grace(&self) -> Duration {
        self.inner.config.storage_timeout + GRACE
    }

    async fn observed<T>(&self, operation: Operation, call: impl Future<Output = Result<T>>) -> Result<T> {
        let started = std::time::Instant::now();
        let outcome = call.await;
        self.inner.figures.answered(operation, outcome.as_ref().err().map(Error::code), started.elapsed());
        outcome
    }
}
