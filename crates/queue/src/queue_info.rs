//! The record of a queue.

use std::time::Duration;

use leasehold_core::Timestamp;

use crate::{Namespace, QueueName, Refusal};

const REFERENCE_BYTES_MAX: usize = 2_000;
const MAX_ATTEMPTS_MAX: i64 = 65_536;
/// Each partition has an owner of its own: more than this is a mistake.
pub(crate) const PARTITIONS_MAX: u32 = 10_000;
/// As fine as stores keep time.
const TIMEOUT_MIN: Duration = Duration::from_micros(1);

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueInfo {
    /// Its name.
    pub name: QueueName,
    /// Where it belongs.
    pub namespace: Namespace,
    /// What can be changed about it.
    pub options: QueueOptions,
    /// Where its partitions are.
    pub partitions: Vec<PartitionInfo>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What can be chosen about a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// How long an item is leased, unless the lease says otherwise.
    pub lease_timeout: Duration,
    /// How long after being produced an item dies.
    pub expire_timeout: Duration,
    /// How many leases an item gets; zero for no limit.
    pub max_attempts: u32,
    /// Where dead items go; they are deleted if there is none.
    pub dead_queue: Option<QueueName>,
    /// The user's, opaque.
    pub reference: String,
    /// How many partitions it was to have.
    pub requested_partitions: u32,
}

/// A partition of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionInfo {
    /// Its number, from zero.
    pub number: u32,
    /// The store that keeps it.
    pub store: String,
    /// Whether items may only be taken out.
    pub read_only: bool,
}

/// A request to create or change a queue, before it is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueChange {
    /// Zero leaves it as it is.
    pub lease_timeout: Duration,
    /// Zero leaves it as it is.
    pub expire_timeout: Duration,
    /// Always applied.
    pub max_attempts: i64,
    /// Always applied: none removes it.
    pub dead_queue: Option<QueueName>,
    /// Always applied.
    pub reference: String,
    /// Zero leaves it as it is.
    pub requested_partitions: i64,
}

impl QueueChange {
    /// The options of a new queue.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn create(self) -> Result<QueueOptions, Refusal> {
        self.checked()
    }

    /// The options of `queue` after the change: what is left out of the request is kept, or reset, field by field.
    ///
    /// # Errors
    /// The first rule that the merged record breaks.
    pub fn merge(self, queue: &QueueOptions) -> Result<QueueOptions, Refusal> {
        let or = |given: Duration, kept| if given.is_zero() { kept } else { given };
        let requested_partitions = match self.requested_partitions {
            0 => queue.requested_partitions.into(),
            given => given,
        };
        QueueChange {
            lease_timeout: or(self.lease_timeout, queue.lease_timeout),
            expire_timeout: or(self.expire_timeout, queue.expire_timeout),
            requested_partitions,
            ..self
        }
        .checked()
    }

    fn checked(self) -> Result<QueueOptions, Refusal> {
        let QueueChange { lease_timeout, expire_timeout, dead_queue, reference, .. } = self;
        if reference.len() > REFERENCE_BYTES_MAX {
            return Err(Refusal::ReferenceLength);
        }
        if reference.contains('\0') {
            return Err(Refusal::TextNul { field: "reference" });
        }
        if self.max_attempts > MAX_ATTEMPTS_MAX {
            return Err(Refusal::MaxAttemptsTooLarge);
        }
        let max_attempts = u32::try_from(self.max_attempts).map_err(|_| Refusal::MaxAttemptsNegative)?;
        if self.requested_partitions < 1 {
            return Err(Refusal::PartitionsTooFew);
        }
        let requested_partitions = u32::try_from(self.requested_partitions)
            .ok()
            .filter(|partitions| *partitions <= PARTITIONS_MAX)
            .ok_or(Refusal::PartitionsTooMany { limit: PARTITIONS_MAX })?;
        if lease_timeout < TIMEOUT_MIN {
            return Err(Refusal::LeaseTimeoutEmpty);
        }
        if expire_timeout < TIMEOUT_MIN {
            return Err(Refusal::ExpireTimeoutEmpty);
        }
        if lease_timeout > expire_timeout {
            return Err(Refusal::LeaseTimeoutTooLong { lease_timeout, expire_timeout });
        }
        Ok(QueueOptions {
            lease_timeout,
            expire_timeout,
            max_attempts,
            dead_queue,
            reference,
            requested_partitions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> QueueChange {
        QueueChange {
            lease_timeout: Duration::from_secs(60),
            expire_timeout: Duration::from_secs(3600),
            max_attempts: 3,
            dead_queue: Some("dead".parse().expect("a name")),
            reference: "mine".to_owned(),
            requested_partitions: 2,
        }
    }

    #[test]
    fn change_keeps_timeouts_and_resets_the_rest() {
        let queue = change().create().expect("options");
        let merged = QueueChange::default().merge(&queue).expect("nothing is left out that must be there");
        assert_eq!(merged.lease_timeout, queue.lease_timeout);
        assert_eq!(merged.expire_timeout, queue.expire_timeout);
        assert_eq!(merged.requested_partitions, 2);
        assert_eq!((merged.max_attempts, merged.dead_queue, merged.reference.as_str()), (0, None, ""));
    }

    #[test]
    fn lease_and_expire_timeout_are_compared_after_merging() {
        let queue = change().create().expect("options");
        let longer = QueueChange { lease_timeout: Duration::from_secs(7200), ..QueueChange::default() };
        assert_eq!(
            longer.merge(&queue).expect_err("longer than the kept expire timeout").to_string(),
            "lease timeout is too long; 2h0m0s cannot be greater than the expire timeout 1h0m0s"
        );
    }

    #[test]
    fn rules_are_checked_in_their_order_and_at_their_edges() {
        let longest = QueueChange { reference: "x".repeat(2_000), max_attempts: 65_536, ..change() };
        assert!(longest.create().is_ok());
        for (bad, refusal) in [
            (
                QueueChange { reference: "x".repeat(2_001), max_attempts: -1, ..change() },
                Refusal::ReferenceLength,
            ),
            (QueueChange { max_attempts: 65_537, ..change() }, Refusal::MaxAttemptsTooLarge),
            (QueueChange { max_attempts: -1, ..change() }, Refusal::MaxAttemptsNegative),
            (QueueChange { requested_partitions: 0, ..change() }, Refusal::PartitionsTooFew),
            (
                QueueChange { requested_partitions: 10_001, ..change() },
                Refusal::PartitionsTooMany { limit: 10_000 },
            ),
            (
                QueueChange { lease_timeout: Duration::from_nanos(999), ..change() },
                Refusal::LeaseTimeoutEmpty,
            ),
            (QueueChange { expire_timeout: Duration::ZERO, ..change() }, Refusal::ExpireTimeoutEmpty),
        ] {
            assert_eq!(bad.create(), Err(refusal));
        }
    }
}
