//! The names operations go by in metrics and errors.

use leasehold_txn::Operation;

pub(super) const OPEN: Operation = Operation::new("queue.open");
pub(super) const SETUP: Operation = Operation::new("queue.setup");
pub(super) const PRODUCE: Operation = Operation::new("queue.produce");
pub(super) const NEXT_READY: Operation = Operation::new("queue.next_ready");
pub(super) const LEASE: Operation = Operation::new("queue.lease");
pub(super) const CHANGE: Operation = Operation::new("queue.change");
pub(super) const DUE: Operation = Operation::new("queue.due");
pub(super) const REQUEUE: Operation = Operation::new("queue.requeue");
pub(super) const FETCH: Operation = Operation::new("queue.fetch");
pub(super) const REMOVE: Operation = Operation::new("queue.remove");
pub(super) const CLEAR: Operation = Operation::new("queue.clear");
pub(super) const LIST: Operation = Operation::new("queue.list");
pub(super) const DEADLINES: Operation = Operation::new("queue.deadlines");
pub(super) const STATS: Operation = Operation::new("queue.stats");
pub(super) const DROP: Operation = Operation::new("queue.drop_partition");
pub(super) const UPKEEP: Operation = Operation::new("queue.upkeep");
pub(super) const QUEUE_GET: Operation = Operation::new("queue.record_get");
pub(super) const QUEUE_ADD: Operation = Operation::new("queue.record_add");
pub(super) const QUEUE_REPLACE: Operation = Operation::new("queue.record_replace");
pub(super) const QUEUE_LIST: Operation = Operation::new("queue.record_list");
pub(super) const QUEUE_DELETE: Operation = Operation::new("queue.record_delete");
