//! What the engine is built from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::EngineClock;
use crate::{DeadQueueRule, Store};

/// How much one request may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Items of a produce.
    pub produce_items_max: usize,
    /// Items of a lease.
    pub lease_items_max: usize,
    /// Ids of a complete, retry or extend.
    pub complete_items_max: usize,
}

/// A thousand of each.
impl Default for Limits {
    fn default() -> Self {
        Limits { produce_items_max: 1_000, lease_items_max: 1_000, complete_items_max: 1_000 }
    }
}

/// Settings of an [`Engine`](crate::Engine).
#[derive(Clone, Debug)]
pub struct Config {
    /// How much one request may carry.
    pub limits: Limits,
    /// How many produces, leases, completes, retries and extends of one queue may wait to be taken.
    pub requests_max: usize,
    /// How many leases of one queue may wait for items, and how many produces for a partition that works.
    pub waiting_max: usize,
    /// How many bytes of items of one queue may wait to be stored.
    pub waiting_bytes_max: usize,
    /// How many bytes of items one write of a partition holds, and the leases it answers; at least one request, however
    /// large. A write that does not end within `storage_timeout` is cut, so it must fit on a slow disk or link: 4 MiB
    /// take two seconds at 2 MB/s. Larger writes gain nothing: on PostgreSQL the rate of an insert stops growing at some
    /// 100 KB.
    pub write_bytes_max: usize,
    /// How many bytes of items one list is answered with; one item is answered however large. A longer list is refused:
    /// it is assembled in memory.
    pub list_bytes_max: usize,
    /// How many bytes one lease is answered with; one item is answered however large it is.
    pub answer_bytes_max: usize,
    /// How many bytes of answers to leases, of all queues, may be in memory at once: each counts until its
    /// [`Room`](crate::Room) is dropped. An item that is larger than that is leased while there is no other answer.
    pub answers_bytes_max: usize,
    /// What a record means whose partition is on a store of a name that nobody knows.
    pub unknown_stores: UnknownStores,
    /// Says whose dead items may go where; none lets a queue name any other.
    pub dead_queue_rule: Option<Arc<dyn DeadQueueRule>>,
    /// How long the store may take for one call.
    pub storage_timeout: Duration,
    /// How long the store may take to open a partition, which may mean reading all of it.
    pub open_timeout: Duration,
    /// How long after its deadline a lease is taken back. A completion that was on its way then still counts, and
    /// no consumer gets an item while another one's clock says that it is still held.
    pub reclaim_delay: Duration,
    /// How long a failing partition rests, first and at most.
    pub backoff: Backoff,
    /// How long a stop may take before what is left is cut.
    pub shutdown_grace: Duration,
    /// The time that judges leases, schedules and expiry.
    pub clock: EngineClock,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            limits: Limits::default(),
            requests_max: 1_024,
            waiting_max: 10_000,
            unknown_stores: UnknownStores::Refused,
            dead_queue_rule: None,
            waiting_bytes_max: 256 << 20,
            write_bytes_max: 4 << 20,
            list_bytes_max: 64 << 20,
            answer_bytes_max: 16 << 20,
            answers_bytes_max: 256 << 20,
            storage_timeout: Duration::from_secs(3),
            open_timeout: Duration::from_secs(60),
            reclaim_delay: Duration::from_millis(20),
            backoff: Backoff::default(),
            shutdown_grace: Duration::from_secs(5),
            clock: EngineClock::default(),
        }
    }
}

/// What a record means whose partition is on a store of a name that nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownStores {
    /// That it was configured elsewhere: the queue cannot be used here.
    #[default]
    Refused,
    /// The first store. For those who have only one, over a database that somebody else filled and named his own way.
    First,
}

/// Longer after each failure: `first` × 1.5^failures, at most `longest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Before it grows.
    pub first: Duration,
    /// It does not grow beyond.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { first: Duration::from_millis(500), longest: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// The same, less up to half of it by chance: partitions that failed together do not all come back together.
    pub(crate) fn spread(&self, failures: u32) -> Duration {
        let chance = getrandom::u32().map_or(0.0, |random| f64::from(random) / f64::from(u32::MAX));
        self.after(failures).mul_f64(1.0 - chance / 2.0)
    }

    pub(crate) fn after(&self, failures: u32) -> Duration {
        let exponent = i32::try_from(failures.min(64)).expect("at most 64");
        let longest = self.longest.as_secs_f64();
        Duration::from_secs_f64((self.first.as_secs_f64() * 1.5_f64.powi(exponent)).min(longest))
    }
}

/// A place for partitions, by name.
#[derive(Clone)]
pub struct NamedStore {
    /// Stored with each partition that is placed here.
    pub name: String,
    /// Its share of the partitions of new queues, against the others'.
    pub affinity: f64,
    /// The place.
    pub store: Arc<dyn Store>,
}

impl fmt::Debug for NamedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedStore")
            .field("name", &self.name)
            .field("affinity", &self.affinity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_by_half_up_to_its_longest() {
        let backoff = Backoff::default();
        assert_eq!(backoff.after(0), Duration::from_millis(500));
        assert_eq!(backoff.after(1), Duration::from_millis(750));
        assert_eq!(backoff.after(5), Duration::from_micros(3_796_875));
        assert_eq!(backoff.after(6), Duration::from_secs(5));
        assert_eq!(backoff.after(u32::MAX), Duration::from_secs(5));
    }

    #[test]
    fn partitions_that_failed_together_come_back_at_different_times() {
        let backoff = Backoff::default();
        let mut waits: Vec<_> = (0..100).map(|_| backoff.spread(6)).collect();
        assert!(
            waits.iter().all(|wait| (Duration::from_millis(2_500)..=backoff.longest).contains(wait)),
            "{waits:?}"
        );
        waits.sort_unstable();
        waits.dedup();
        assert!(waits.len() > 90, "{waits:?}");
    }
}
