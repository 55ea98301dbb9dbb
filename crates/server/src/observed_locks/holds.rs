//! The holds that were granted through this server, for as long as they last: the store does not tell how long one was
//! held, nor that one ran out.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use leasehold_core::{KeyHash, Ttl};

/// Holds that are followed at once. Further ones are counted when they are asked for, and not timed.
const HOLDS_MAX: usize = 100_000;

/// By the hash of their lock ids, as the ids are secrets.
#[derive(Debug)]
pub(super) struct Holds {
    by_lock_id: HashMap<KeyHash, Hold>,
    /// How much longer than its ttl the store lets a hold live.
    tolerance: Duration,
    holds_max: usize,
}

#[derive(Debug)]
struct Hold {
    granted_at: Instant,
    /// Nothing lives longer: counted from when the store had answered.
    ends_at: Instant,
}

/// A hold that is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) lasted: Duration,
}

impl Holds {
    pub(super) fn new(tolerance: Duration) -> Self {
        Holds { by_lock_id: HashMap::new(), tolerance, holds_max: HOLDS_MAX }
    }

    pub(super) fn len(&self) -> usize {
        self.by_lock_id.len()
    }

    /// A grant may be that of a request that is repeated: the hold is as old as it was. What had to make room for it is
    /// returned.
    pub(super) fn granted(&mut self, lock_id: KeyHash, ttl: Ttl, now: Instant) -> Vec<Ended> {
        let live = self.by_lock_id.get(&lock_id).is_some_and(|hold| hold.ends_at > now);
        if live {
            return Vec::new();
        }
        let mut displaced: Vec<Ended> = self.ended(lock_id, now).into_iter().collect();
        if self.len() >= self.holds_max {
            displaced.extend(self.expired(now));
        }
        if self.len() < self.holds_max {
            let ends_at = self.end(ttl, now);
            self.by_lock_id.insert(lock_id, Hold { granted_at: now, ends_at });
        }
        displaced
    }

    pub(super) fn extended(&mut self, lock_id: KeyHash, ttl: Ttl, now: Instant) {
        let ends_at = self.end(ttl, now);
        if let Some(hold) = self.by_lock_id.get_mut(&lock_id) {
            hold.ends_at = ends_at;
        }
    }

    /// Takes the hold out, if it is known.
    pub(super) fn ended(&mut self, lock_id: KeyHash, now: Instant) -> Option<Ended> {
        self.by_lock_id.remove(&lock_id).map(|hold| hold.until(now))
    }

    /// Takes those out whose time has passed.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<Ended> {
        let over = self.by_lock_id.extract_if(|_, hold| hold.ends_at <= now);
        over.map(|(_, hold)| hold.until(now)).collect()
    }

    /// A ttl may be longer than the clock can tell; such a hold is looked at again in a century.
    fn end(&self, ttl: Ttl, now: Instant) -> Instant {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
        now + ttl.as_duration().min(CENTURY) + self.tolerance
    }
}

impl Hold {
    fn until(&self, now: Instant) -> Ended {
        Ended { lasted: now.min(self.ends_at).saturating_duration_since(self.granted_at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ttl(seconds: u64) -> Ttl {
        Ttl::from_millis(seconds * 1_000).expect("a ttl")
    }

    fn lasted(seconds: u32) -> Ended {
        Ended { lasted: seconds * SECOND }
    }

    #[test]
    fn hold_lasts_from_its_grant_to_its_release() {
        let (mut holds, start, id) = (Holds::new(SECOND), Instant::now(), KeyHash::of("a"));
        holds.granted(id, ttl(10), start);
        // Repeated, as after a lost answer.
        holds.granted(id, ttl(10), start + 2 * SECOND);
        assert_eq!(holds.ended(id, start + 5 * SECOND), Some(lasted(5)));
        assert_eq!(holds.ended(id, start + 5 * SECOND), None, "ends once");
    }

    #[test]
    fn hold_that_is_extended_runs_out_later_and_once() {
        let (mut holds, start, id) = (Holds::new(SECOND), Instant::now(), KeyHash::of("a"));
        holds.granted(id, ttl(10), start);
        holds.extended(id, ttl(10), start + 8 * SECOND);
        assert_eq!(holds.expired(start + 18 * SECOND), []);
        assert_eq!(holds.expired(start + 60 * SECOND), [lasted(19)], "no longer than the store lets it live");
        assert_eq!((holds.expired(start + 60 * SECOND), holds.len()), (Vec::new(), 0));
        holds.extended(id, ttl(10), start);
        assert_eq!(holds.len(), 0, "what is not known is not followed from the middle");
    }

    #[test]
    fn holds_beyond_the_bound_are_not_followed_until_there_is_room() {
        let mut holds = Holds { holds_max: 2, ..Holds::new(Duration::ZERO) };
        let start = Instant::now();
        let granted = |holds: &mut Holds, name: &str, seconds, at| {
            holds.granted(KeyHash::of(name), ttl(seconds), start + at * SECOND)
        };
        assert_eq!(granted(&mut holds, "a", 5, 0), []);
        assert_eq!(granted(&mut holds, "b", 50, 0), []);
        assert_eq!(granted(&mut holds, "c", 50, 1), []);
        assert_eq!((holds.len(), holds.ended(KeyHash::of("c"), start)), (2, None));
        assert_eq!(granted(&mut holds, "d", 50, 6), [lasted(5)], "a ran out and made room");
        assert_eq!(holds.len(), 2);
    }

    #[test]
    fn longest_ttl_does_not_overflow() {
        let mut holds = Holds::new(SECOND);
        holds.granted(KeyHash::of("a"), Ttl::MAX, Instant::now());
        assert_eq!(holds.len(), 1);
    }
}
