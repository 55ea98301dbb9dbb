//! What this process knows of the holds it was granted: where their documents are and in which version.

use std::collections::HashMap;

use leasehold_core::{Key, LockId, TIME_TOLERANCE, Timestamp, is_live};
use parking_lot::Mutex;

use super::api::Version;

/// So many holds are remembered. A plain key beyond them is found by a query instead; a nested one is refused.
const LEN_MAX: usize = 10_000;

/// One hold as of its last write by this process.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) key: Key,
    /// The document. A peer may have put it elsewhere than we would put the key.
    pub(super) name: String,
    /// As long as the document has this version, nobody took over, extended or ended the hold.
    pub(super) version: Option<Version>,
    pub(super) expires_at: Timestamp,
}

impl Known {
    pub(super) fn is_live(&self, now: Timestamp) -> bool {
        is_live(self.expires_at, now, TIME_TOLERANCE)
    }
}

/// The holds by lock id.
#[derive(Debug, Default)]
pub(super) struct KnownHolds(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    by_lock_id: HashMap<LockId, Known>,
    /// Looking for ended holds before this time would find none.
    all_live_until: Option<Timestamp>,
}

impl KnownHolds {
    pub(super) fn get(&self, lock_id: &LockId) -> Option<Known> {
        self.0.lock().by_lock_id.get(lock_id).cloned()
    }

    pub(super) fn forget(&self, lock_id: &LockId) {
        self.0.lock().by_lock_id.remove(lock_id);
    }

    /// Forgets what was remembered of a hold of this key, and none of another key.
    pub(super) fn forget_of(&self, lock_id: &LockId, key: &Key) {
        let mut inner = self.0.lock();
        if inner.by_lock_id.get(lock_id).is_some_and(|known| known.key == *key) {
            inner.by_lock_id.remove(lock_id);
        }
    }

    /// Whether one more fits, after those that ended by themselves are forgotten.
    pub(super) fn has_room(&self, now: Timestamp) -> bool {
        self.0.lock().make_room(now)
    }

    /// Remembers a hold if it fits, or if `must`: the caller has asked for room before its hold was granted.
    pub(super) fn remember(&self, lock_id: LockId, known: Known, now: Timestamp, must: bool) {
        let mut inner = self.0.lock();
        if must || inner.by_lock_id.contains_key(&lock_id) || inner.make_room(now) {
            inner.all_live_until = inner.all_live_until.map(|until| until.min(free_at(&known)));
            inner.by_lock_id.insert(lock_id, known);
        }
    }
}

impl Inner {
    fn make_room(&mut self, now: Timestamp) -> bool {
        if self.by_lock_id.len() < LEN_MAX {
            return true;
        }
        if self.all_live_until.is_none_or(|until| now >= until) {
            self.by_lock_id.retain(|_, known| known.is_live(now));
            self.all_live_until = self.by_lock_id.values().map(free_at).min();
        }
        self.by_lock_id.len() < LEN_MAX
    }
}

fn free_at(known: &Known) -> Timestamp {
    known.expires_at.saturating_add(TIME_TOLERANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(expires_at: i64) -> Known {
        Known {
            key: Key::parse("k").unwrap(),
            name: "locks/k".to_owned(),
            version: Some(Version { seconds: 1, nanos: 0 }),
            expires_at: Timestamp::from_millis(expires_at),
        }
    }

    fn full(expires_at: impl Fn(usize) -> i64) -> KnownHolds {
        let holds = KnownHolds::default();
        for number in 0..LEN_MAX {
            let lock_id = LockId::generate().unwrap();
            holds.remember(lock_id, known(expires_at(number)), Timestamp::EPOCH, false);
        }
        holds
    }

    #[test]
    fn hold_beyond_the_limit_is_not_remembered_unless_it_must_be() {
        let holds = full(|_| 10_000);
        let (extra, must) = (LockId::generate().unwrap(), LockId::generate().unwrap());
        assert!(!holds.has_room(Timestamp::EPOCH));
        holds.remember(extra, known(10_000), Timestamp::EPOCH, false);
        holds.remember(must, known(10_000), Timestamp::EPOCH, true);
        assert!(holds.get(&extra).is_none() && holds.get(&must).is_some());
    }

    #[test]
    fn ended_holds_make_room() {
        let holds = full(|number| if number == 0 { 1_000 } else { 60_000 });
        assert!(!holds.has_room(Timestamp::from_millis(1_999)), "the hold ends with the tolerance");
        assert!(holds.has_room(Timestamp::from_millis(2_000)));
        assert_eq!(holds.0.lock().by_lock_id.len(), LEN_MAX - 1);
    }

    #[test]
    fn shorter_hold_that_came_later_makes_room_too() {
        let holds = full(|_| 60_000);
        assert!(!holds.has_room(Timestamp::EPOCH));
        let lock_id = *holds.0.lock().by_lock_id.keys().next().unwrap();
        holds.remember(lock_id, known(1_000), Timestamp::EPOCH, false);
        assert!(holds.has_room(Timestamp::from_millis(2_000)));
    }
}
