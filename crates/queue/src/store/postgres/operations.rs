//! The names operations go by in metrics and errors.

use leasehold_txn::Operation;

pub(in crate::store) const OPEN: Operation = Operation::new("queue.open");
pub(in crate::store) const SETUP: Operation = Operation::new("queue.setup");
pub(in crate::store) const PRODUCE: Operation = Operation::new("queue.produce");
pub(in crate::store) const NEXT_READY: Operation = Operation::new("queue.next_ready");
pub(in crate::store) const LEASE: Operation = Operation::new("queue.lease");
pub(in crate::store) const CHANGE: Operation = Operation::new("queue.change");
pub(in crate::store) const DUE: Operation = Operation::new("queue.due");
pub(in crate::store) const REQUEUE: Operation = Operation::new("queue.requeue");
pub(in crate::store) const HEADERS: Operation = Operation::new("queue.headers");
pub(in crate::store) const FETCH: Operation = Operation::new("queue.fetch");
pub(in crate::store) const REMOVE: Operation = Operation::new("queue.remove");
pub(in crate::store) const CLEAR: Operation = Operation::new("queue.clear");
pub(in crate::store) const LIST: Operation = Operation::new("queue.list");
pub(in crate::store) const DEADLINES: Operation = Operation::new("queue.deadlines");
pub(in crate::store) const STATS: Operation = Operation::new("queue.stats");
pub(in crate::store) const DROP: Operation = Operation::new("queue.drop_partition");
pub(in crate::store) const UPKEEP: Operation = Operation::new("queue.upkeep");
pub(in crate::store) const QUEUE_GET: Operation = Operation::new("queue.record_get");
pub(in crate::store) const QUEUE_ADD: Operation = Operation::new("queue.record_add");
pub(in crate::store) const QUEUE_REPLACE: Operation = Operation::new("queue.record_replace");
pub(in crate::store) const QUEUE_LIST: Operation = Operation::new("queue.record_list");
pub(in crate::store) const QUEUE_DELETE: Operation = Operation::new("queue.record_delete");
