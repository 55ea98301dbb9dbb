//! Below which no deadline is: where a scan for the earliest may begin.

use leasehold_core::Timestamp;

use crate::Item;
use crate::store::Deadlines;

/// Lower bounds of the deadlines that are stored, or none at all. The owner makes every write, so it knows of every
/// deadline that comes; those that go may leave a bound too low, never too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Floors {
    pub(super) lease: Timestamp,
    pub(super) expire: Timestamp,
    pub(super) enqueue: Timestamp,
}

impl Floors {
    /// What was just read; nothing stored means that every bound holds.
    pub(super) fn of(deadlines: &Deadlines) -> Self {
        Floors {
            lease: deadlines.lease.unwrap_or(Timestamp::MAX),
            expire: deadlines.expire.unwrap_or(Timestamp::MAX),
            enqueue: deadlines.enqueue.unwrap_or(Timestamp::MAX),
        }
    }

    /// Nothing is known.
    pub(super) const fn none() -> Self {
        Floors { lease: Timestamp::MIN, expire: Timestamp::MIN, enqueue: Timestamp::MIN }
    }

    /// A leased item has no deadline only while the bound says so.
    pub(super) fn lease_may_lack_deadline(&self) -> bool {
        self.lease == Timestamp::MIN
    }

    pub(super) fn leased_until(&mut self, deadline: Timestamp) {
        self.lease = self.lease.min(deadline);
    }

    pub(super) fn expires_at(&mut self, deadline: Timestamp) {
        self.expire = self.expire.min(deadline);
    }

    pub(super) fn scheduled_for(&mut self, at: Timestamp) {
        self.enqueue = self.enqueue.min(at);
    }

    pub(super) fn place(&mut self, item: &Item) {
        match item.enqueue_at {
            Some(at) => self.scheduled_for(at),
            None => self.expires_at(item.expire_deadline),
        }
        if item.is_leased {
            self.leased_until(item.lease_deadline.unwrap_or(Timestamp::MIN));
        }
    }
}
