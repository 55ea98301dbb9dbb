//! The names our work goes by in the metrics of `leasehold-txn`.

use leasehold_txn::Operation;

pub(super) const ACQUIRE: Operation = Operation::new("lock.acquire");
pub(super) const ACQUIRE_MANY: Operation = Operation::new("lock.acquire_many");
pub(super) const RELEASE: Operation = Operation::new("lock.release");
pub(super) const RELEASE_MANY: Operation = Operation::new("lock.release_many");
pub(super) const EXTEND: Operation = Operation::new("lock.extend");
pub(super) const IS_LOCKED: Operation = Operation::new("lock.is_locked");
pub(super) const CLEANUP: Operation = Operation::new("lock.cleanup");
pub(super) const LOOKUP: Operation = Operation::new("lock.lookup");
pub(super) const LIST: Operation = Operation::new("lock.list");
pub(super) const SETUP: Operation = Operation::new("lock.setup");
