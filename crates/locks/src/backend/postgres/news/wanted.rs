//! Which keys somebody elsewhere waits for, as far as we were told.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use leasehold_core::KeyHash;
use parking_lot::Mutex;

/// How long an announcement counts. Longer than two of the intervals at which waiters repeat theirs.
pub(super) const WANTED_FOR: Duration = Duration::from_secs(5);

/// How long a release is remembered: for an announcement that was on its way when it happened, and for the next one of
/// a waiter whose first came before we listened.
const FREED_FOR: Duration = WANTED_FOR;

const WANTED_MAX: usize = 16_384;
const FREED_MAX: usize = 1_024;

/// Announcements and releases meet here in either order.
#[derive(Debug, Default)]
pub(super) struct Wanted(Mutex<Meeting>);

#[derive(Debug, Default)]
struct Meeting {
    wanted: HashMap<KeyHash, Instant>,
    /// The oldest entry that the last sweep left: no sweep before its end removes anything.
    oldest: Option<Instant>,
    /// In the order of time.
    freed: VecDeque<(KeyHash, Instant)>,
}

impl Wanted {
    /// Somebody wants the key. True if it was released here a moment ago: the one who waits does not know yet.
    pub(super) fn is_wanted(&self, key_hash: KeyHash, now: Instant) -> bool {
        let mut meeting = self.0.lock();
        if meeting.wanted.len() >= WANTED_MAX {
            meeting.sweep(now);
        }
        // Beyond the limit a waiter goes back to asking.
        if meeting.wanted.len() < WANTED_MAX {
            meeting.wanted.insert(key_hash, now);
        }
        meeting.freed.iter().any(|(freed, at)| *freed == key_hash && now.duration_since(*at) < FREED_FOR)
    }

    /// The key was released here. True if somebody wants it.
    pub(super) fn is_freed(&self, key_hash: KeyHash, now: Instant) -> bool {
        let mut meeting = self.0.lock();
        if meeting.freed.len() >= FREED_MAX {
            meeting.freed.pop_front();
        }
        meeting.freed.push_back((key_hash, now));
        // Not forgotten when told: there may be a line of them.
        match meeting.wanted.get(&key_hash) {
            Some(since) if now.duration_since(*since) < WANTED_FOR => true,
            Some(_) => {
                meeting.wanted.remove(&key_hash);
                false
            }
            None => false,
        }
    }
}

impl Meeting {
    /// Removes expired entries. It looks at the table only if one can have expired: a full table of live entries would
    /// otherwise cost every further announcement a look at all of them.
    fn sweep(&mut self, now: Instant) {
        if self.oldest.is_some_and(|oldest| now.duration_since(oldest) < WANTED_FOR) {
            return;
        }
        self.wanted.retain(|_, since| now.duration_since(*since) < WANTED_FOR);
        self.oldest = self.wanted.values().min().copied();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> KeyHash {
        KeyHash::of(text)
    }

    #[test]
    fn announcement_and_release_meet_in_either_order() {
        let (wanted, now) = (Wanted::default(), Instant::now());
        assert!(!wanted.is_wanted(key("a"), now));
        assert!(wanted.is_freed(key("a"), now));
        assert!(!wanted.is_freed(key("b"), now));
        assert!(wanted.is_wanted(key("b"), now));
    }

    #[test]
    fn old_ones_are_forgotten() {
        let (wanted, now) = (Wanted::default(), Instant::now());
        assert!(!wanted.is_wanted(key("a"), now));
        assert!(!wanted.is_freed(key("a"), now + WANTED_FOR));
        assert!(!wanted.is_wanted(key("a"), now + WANTED_FOR + FREED_FOR));
    }

    #[test]
    fn numbers_are_bounded() {
        let (wanted, now) = (Wanted::default(), Instant::now());
        for number in 0..2 * WANTED_MAX {
            wanted.is_wanted(key(&number.to_string()), now);
        }
        for number in 0..2 * FREED_MAX {
            wanted.is_freed(key(&number.to_string()), now);
        }
        let meeting = wanted.0.lock();
        assert_eq!((meeting.wanted.len(), meeting.freed.len()), (WANTED_MAX, FREED_MAX));
    }

    #[test]
    fn full_table_takes_others_once_the_old_ones_expired() {
        let (wanted, now) = (Wanted::default(), Instant::now());
        let fill = |from: usize, at| {
            for number in from..from + WANTED_MAX {
                wanted.is_wanted(key(&number.to_string()), at);
            }
        };
        fill(0, now);
        wanted.is_wanted(key("one too many"), now);
        assert!(!wanted.is_freed(key("one too many"), now));
        let later = now + WANTED_FOR;
        fill(WANTED_MAX, later);
        assert!(wanted.is_freed(key(&WANTED_MAX.to_string()), later));
        let meeting = wanted.0.lock();
        assert_eq!((meeting.wanted.len(), meeting.oldest), (WANTED_MAX, None));
    }
}
