//! One ask for a key at a time within this process, whose refusal answers all that came before it was made.

use leasehold_core::{Key, LockId};
use tokio::time::Instant;

use crate::{AcquireOutcome, AcquireRequest};

/// What the tasks that ask for one key leave to each other.
#[derive(Debug, Default)]
pub(super) struct Turn {
    refusal: Option<Refusal>,
}

#[derive(Debug)]
struct Refusal {
    /// Turns are kept by hash, and two keys may have the same.
    key: Key,
    holder: LockId,
    read_from: Instant,
    outcome: AcquireOutcome,
}

impl Turn {
    /// The refusal that answers a request too: the read that found the key held began after the request was made. A
    /// request for the very hold that was found is no refusal.
    pub(super) fn answer(&self, request: &AcquireRequest, asked_at: Instant) -> Option<AcquireOutcome> {
        let refusal = self.refusal.as_ref()?;
        let is_told =
            refusal.read_from > asked_at && refusal.key == request.key && refusal.holder != request.lock_id;
        is_told.then_some(refusal.outcome)
    }

    /// Leaves word of a hold that was found by a read begun then.
    pub(super) fn refused(&mut self, key: &Key, holder: LockId, read_from: Instant, outcome: AcquireOutcome) {
        self.refusal = Some(Refusal { key: key.clone(), holder, read_from, outcome });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leasehold_core::Ttl;

    use super::*;

    fn request(key: &str) -> AcquireRequest {
        let lock_id = LockId::generate().unwrap();
        AcquireRequest { key: Key::parse(key).unwrap(), lock_id, ttl: Ttl::DEFAULT }
    }

    #[test]
    fn refusal_answers_only_those_who_asked_before_it_was_read() {
        let (asked, holder, read_from) = (request("a"), request("a"), Instant::now());
        let held = AcquireOutcome::Held { free_in: None };
        let mut turn = Turn::default();
        let before = read_from - Duration::from_millis(1);
        assert_eq!(turn.answer(&asked, before), None);
        turn.refused(&holder.key, holder.lock_id, read_from, held);
        assert_eq!(turn.answer(&asked, before), Some(held));
        assert_eq!(turn.answer(&asked, read_from), None, "this one asked too late");
        assert_eq!(turn.answer(&request("b"), before), None, "this one asked for another key");
        assert_eq!(turn.answer(&holder, before), None, "this one holds it");
    }
}
