//! The record of a permitted dead queue.

use leasehold_core::Timestamp;
use leasehold_queue::{QueueInfo, QueueName};

/// A queue and its dead queue in another namespace, each as it was when a caller who may produce there named it. A queue
/// that is created again under its name has another beginning, and what was permitted to the former does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadQueuePair {
    /// The queue that items die in.
    pub queue: QueueName,
    /// When it was created.
    pub queue_created_at: Timestamp,
    /// Where they go.
    pub dead_queue: QueueName,
    /// When that was created.
    pub dead_queue_created_at: Timestamp,
}

impl DeadQueuePair {
    /// Of these two.
    #[must_use]
    pub fn of(queue: &QueueInfo, dead_queue: &QueueInfo) -> Self {
        Self {
            queue: queue.name.clone(),
            queue_created_at: queue.created_at,
            dead_queue: dead_queue.name.clone(),
            dead_queue_created_at: dead_queue.created_at,
        }
    }
}
