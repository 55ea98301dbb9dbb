//! The names our work goes by in the metrics of `leasehold-txn`.

use leasehold_txn::Operation;

pub(in crate::backend) const ACQUIRE: Operation = Operation::new("lock.acquire");
pub(in crate::backend) const ACQUIRE_MANY: Operation = Operation::new("lock.acquire_many");
pub(in crate::backend) const RELEASE: Operation = Operation::new("lock.release");
pub(in crate::backend) const RELEASE_MANY: Operation = Operation::new("lock.release_many");
pub(in crate::backend) const TURN: Operation = Operation::new("lock.turn");
pub(in crate::backend) const EXTEND: Operation = Operation::new("lock.extend");
pub(in crate::backend) const IS_LOCKED: Operation = Operation::new("lock.is_locked");
pub(in crate::backend) const CLEANUP: Operation = Operation::new("lock.cleanup");
pub(in crate::backend) const LOOKUP: Operation = Operation::new("lock.lookup");
pub(in crate::backend) const LIST: Operation = Operation::new("lock.list");
pub(in crate::backend) const DETECT: Operation = Operation::new("lock.detect");
pub(in crate::backend) const SETUP: Operation = Operation::new("lock.setup");
