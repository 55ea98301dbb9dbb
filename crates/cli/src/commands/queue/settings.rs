//! What a queue is created with and what can be changed, in flags.

use std::time::Duration;

use clap::Args;
use leasehold_api::queue::QueueInfo;
use leasehold_core::duration;

/// How much longer than a lease an item lives if nothing is said.
pub(crate) const LEASES_PER_LIFE: u32 = 60;

#[derive(Debug, Args)]
pub(crate) struct NewQueue {
    /// How long a lease lasts unless extended
    #[arg(long, value_name = "DURATION", default_value = "1m")]
    pub(crate) lease_timeout: String,
    /// How long an item lives [default: 60 times the lease timeout]
    #[arg(long, value_name = "DURATION")]
    expire_timeout: Option<String>,
    /// How often an item may be leased; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    max_attempts: i32,
    /// Where dead items go; an existing queue
    #[arg(long, value_name = "QUEUE", default_value = "")]
    dead_queue: String,
    /// A reference of your own
    #[arg(long, default_value = "")]
    reference: String,
    /// One keeps the order of all items, more take more work
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    partitions: i32,
}

impl NewQueue {
    pub(crate) fn info(self, queue_name: String, expire_timeout: impl FnOnce() -> String) -> QueueInfo {
        QueueInfo {
            queue_name,
            dead_queue: self.dead_queue,
            reference: self.reference,
            expire_timeout: self.expire_timeout.unwrap_or_else(expire_timeout),
            lease_timeout: self.lease_timeout,
            max_attempts: self.max_attempts,
            requested_partitions: self.partitions,
            ..QueueInfo::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// How long later leases last; without --expire-timeout, that becomes 60 times as long
    #[arg(long, value_name = "DURATION")]
    pub(crate) lease_timeout: Option<String>,
    /// How long items produced later live
    #[arg(long, value_name = "DURATION")]
    expire_timeout: Option<String>,
    /// How often an item may be leased; 0 for no limit
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_attempts: Option<i32>,
    /// Where dead items go; "" for nowhere
    #[arg(long, value_name = "QUEUE")]
    dead_queue: Option<String>,
    /// A reference of your own
    #[arg(long)]
    reference: Option<String>,
    /// How many partitions are wanted
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    partitions: Option<i32>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        let Changes { lease_timeout, expire_timeout, max_attempts, dead_queue, reference, partitions } = self;
        lease_timeout.is_none()
            && expire_timeout.is_none()
            && max_attempts.is_none()
            && dead_queue.is_none()
            && reference.is_none()
            && partitions.is_none()
    }

    /// Over what the queue has now: what the server is not told, it resets.
    pub(crate) fn apply(self, info: &mut QueueInfo, lease: Option<Duration>) {
        let derived = lease.map(|lease| duration::format(lease.saturating_mul(LEASES_PER_LIFE)));
        set(&mut info.lease_timeout, self.lease_timeout);
        set(&mut info.expire_timeout, self.expire_timeout.or(derived));
        set(&mut info.max_attempts, self.max_attempts);
        set(&mut info.dead_queue, self.dead_queue);
        set(&mut info.reference, self.reference);
        set(&mut info.requested_partitions, self.partitions);
    }
}

fn set<T>(field: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *field = given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Changes {
        Changes {
            lease_timeout: None,
            expire_timeout: None,
            max_attempts: None,
            dead_queue: None,
            reference: None,
            partitions: None,
        }
    }

    #[test]
    fn lease_given_alone_takes_the_life_of_items_with_it() {
        let mut info =
            QueueInfo { expire_timeout: "1h0m0s".to_owned(), max_attempts: 3, ..QueueInfo::default() };
        let changes = Changes { lease_timeout: Some("2m".to_owned()), ..nothing() };
        changes.apply(&mut info, Some(Duration::from_secs(120)));
        assert_eq!((info.lease_timeout.as_str(), info.expire_timeout.as_str()), ("2m", "2h0m0s"));
        assert_eq!(info.max_attempts, 3, "what is not given stays");
        let changes = Changes {
            lease_timeout: Some("2m".to_owned()),
            expire_timeout: Some("3h".to_owned()),
            ..nothing()
        };
        changes.apply(&mut info, Some(Duration::from_secs(120)));
        assert_eq!(info.expire_timeout, "3h");
    }

    #[test]
    fn dead_queue_can_be_taken_away() {
        let mut info = QueueInfo { dead_queue: "dead".to_owned(), ..QueueInfo::default() };
        let changes = Changes { dead_queue: Some(String::new()), ..nothing() };
        assert!(!changes.is_empty() && nothing().is_empty());
        changes.apply(&mut info, None);
        assert_eq!(info.dead_queue, "");
    }
}
