//! How an owner comes to a task queue, keeps it, and learns that it is no longer its own.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use super::{NewTask, SubQueue, TaskLevel, TaskQueue, TaskQueueKey, TaskQueues, lease_lost};
use crate::shard::next_range;
use crate::{Blob, Error, Result};

/// A task queue that was taken over. It is held until somebody else takes it over, of which [`Error::ConditionFailed`] of
/// any call tells; whoever gets that must let go of everything that rests on it.
///
/// After [`Error::UnknownOutcome`] of [`renew`](Self::renew) the lease may be at its old range or past it: take the queue
/// over anew. What was written under the old range is then either there or will never be.
#[derive(Debug)]
pub struct Lease {
    queues: TaskQueues,
    key: TaskQueueKey,
    range_id: i64,
}

impl TaskQueues {
    /// Takes a queue over, whoever had it; makes it if there is none. `content` says what to keep in it, given what its
    /// owner before kept. Of several who do so at once one succeeds.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when somebody else was faster.
    pub async fn take_over(
        &self,
        key: &TaskQueueKey,
        content: impl FnOnce(Option<&Blob>) -> Blob,
    ) -> Result<Lease> {
        const FIRST: i64 = 1;
        let range_id = match self.get(key).await {
            Ok(TaskQueue { range_id: previous, blob }) => {
                let range_id = next_range(previous)?;
                self.update(key, &TaskQueue { range_id, blob: content(Some(&blob)) }, previous).await?;
                range_id
            }
            Err(Error::NotFound { .. }) => {
                self.create(key, &TaskQueue { range_id: FIRST, blob: content(None) }).await?;
                FIRST
            }
            Err(error) => return Err(error),
        };
        Ok(Lease { queues: self.clone(), key: key.clone(), range_id })
    }
}

impl Lease {
    /// The queue.
    #[must_use]
    pub fn key(&self) -> &TaskQueueKey {
        &self.key
    }

    /// The range under which it is held.
    #[must_use]
    pub fn range_id(&self) -> i64 {
        self.range_id
    }

    /// The ids that tasks of this range have, where each range has `block_size`. Nobody else gives them out.
    #[must_use]
    pub fn task_ids(&self, block_size: NonZeroU32) -> RangeInclusive<i64> {
        let size = i64::from(block_size.get());
        (self.range_id - 1).saturating_mul(size).saturating_add(1)..=self.range_id.saturating_mul(size)
    }

    /// Goes on to the next range, for more ids.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the queue is another's.
    pub async fn renew(&mut self, blob: Blob) -> Result<()> {
        let range_id = next_range(self.range_id)?;
        self.queues.update(&self.key, &TaskQueue { range_id, blob }, self.range_id).await?;
        self.range_id = range_id;
        Ok(())
    }

    /// Stores what the owner keeps in the queue, at the same range.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the queue is another's.
    pub async fn sync_state(&self, blob: Blob) -> Result<()> {
        let range_id = self.range_id;
        self.queues.update(&self.key, &TaskQueue { range_id, blob }, range_id).await
    }

    /// Whether the queue is at this range now. Advice, not a fence: by the time of the answer it may have changed.
    ///
    /// # Errors
    /// [`Error::ConditionFailed`] when the queue is another's, or gone.
    pub async fn verify(&self) -> Result<()> {
        match self.queues.get(&self.key).await {
            Ok(queue) if queue.range_id == self.range_id => Ok(()),
            Ok(queue) => Err(lease_lost(self.range_id, Some(queue.range_id))),
            Err(Error::NotFound { .. }) => Err(lease_lost(self.range_id, None)),
            Err(error) => Err(error),
        }
    }

    /// [`TaskQueues::create_tasks`] under this range.
    ///
    /// # Errors
    /// The same.
    pub async fn create_tasks(&self, tasks: &[NewTask]) -> Result<()> {
        self.queues.create_tasks(&self.key, self.range_id, tasks).await
    }

    /// [`TaskQueues::complete_tasks_under`] this range.
    ///
    /// # Errors
    /// The same.
    pub async fn complete_tasks_less_than(
        &self,
        sub_queue: SubQueue,
        below: TaskLevel,
        limit: u32,
    ) -> Result<u64> {
        self.queues.complete_tasks_under(&self.key, self.range_id, sub_queue, below, limit).await
    }
}
